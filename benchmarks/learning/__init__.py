"""What can be learnt from releases of Adult and of the voters sample: docs/figures/utility.md."""
