"""Between us and an endpoint: one call, its retries, its limits and its price."""
