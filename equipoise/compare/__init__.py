"""Two results and more: differences, gates, panels."""
