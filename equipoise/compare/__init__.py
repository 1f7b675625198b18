"""Comparisons of results: differences, gates, rankings by panels."""
