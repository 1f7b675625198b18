"""Generating, fetching and checking of data, outside of sessions."""
