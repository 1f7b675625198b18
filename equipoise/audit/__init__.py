"""Evaluators on trial: what their verdicts on texts whose right scores are known tell about them."""
