"""What every room uses: words as types, records, errors, options and settings, files."""
