"""What an attacker gains from a release: figures, their baselines and controls."""

KNOWN = 3  # so many columns of a person are known, unless another number is asked for
