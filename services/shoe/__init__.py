"""Which card comes next. Knows no money and no players."""
