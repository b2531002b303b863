"""The report of a release, for the file: gathered from a plan and a table, rendered as one page."""
