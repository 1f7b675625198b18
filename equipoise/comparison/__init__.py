"""Results against results: baselines, comparisons, gates, panels."""
