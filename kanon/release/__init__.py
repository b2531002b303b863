"""One release, judged: checked, decided on, remarked on, held against others and the next table."""
