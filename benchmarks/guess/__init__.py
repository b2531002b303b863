"""How often the advisor's guess before running anything is right."""
