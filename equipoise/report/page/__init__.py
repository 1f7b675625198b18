"""Results as one HTML page that needs no server and no network, and its figures as files."""
