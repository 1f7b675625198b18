"""Results, comparisons and gates rendered as text."""
