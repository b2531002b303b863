"""Sources of tables: reading files, engines that count classes and write releases."""
