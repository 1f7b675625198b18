"""Results as people look at them, as lines of text."""
