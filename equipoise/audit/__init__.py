"""Audits of evaluators: they judge anchors, texts whose scores are known, and the checks are saved."""
