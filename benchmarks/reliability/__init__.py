"""What kanon was put through: releases, broken input, killed workers, many sessions at once."""
