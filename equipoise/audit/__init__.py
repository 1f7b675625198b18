"""Audits of evaluators: has them judge anchors, texts whose verdicts are known, and keeps what that shows."""
