"""Making, fetching and checking data; nothing here runs in a session."""
