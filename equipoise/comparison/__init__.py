"""Comparison of results: baselines, gates, panels of evaluators, and the board of models."""
