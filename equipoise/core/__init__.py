"""Types, records, errors, options, settings and file access that every other package uses."""
