"""Runs the cases of a session, and the jobs of a command. Knows no pytest."""
