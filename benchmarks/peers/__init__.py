"""Other tools on the tables that kanon is run on, each in an environment of its own."""
