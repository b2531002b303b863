"""The command line: a file per command, with its arguments and what it does."""
