"""What several pages draw: charts with their data, tables, editors, fields."""
