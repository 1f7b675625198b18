"""What is kept on disk: the journal of a session and the results made of it."""
