"""What every room needs and that knows nothing of anonymisation: texts, numbers, files."""
