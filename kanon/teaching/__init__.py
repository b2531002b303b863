"""What is shown and asked on a table of few records: steps, attacks, exercises, a handout."""
