"""Access to model endpoints: the client, retries, rate limits, budgets and prices."""
