"""What runs other tools, each in an environment of its own; nothing of kanon is imported there."""
