"""What one visitor works on: table, roles, hierarchies, settings, results; saved and opened."""
