"""Runs the cases of a session; knows no pytest."""
