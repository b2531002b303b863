"""What can be learnt from releases of Adult and of the voters sample: docs/utility.md."""
