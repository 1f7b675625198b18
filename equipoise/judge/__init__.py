"""Evaluators, the panel of a session, and the rubrics that they judge by."""
