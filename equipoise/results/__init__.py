"""Files on disk: the journal of a session and the results built from it."""
