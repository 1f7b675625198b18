"""Calls in batches, at half the price: sent to endpoints that accept batches, or exchanged as files.

`transport` begins phases, `submissions` sends calls to an `endpoint`, `reading` reads the replies there,
`files` writes and reads the same lines in files, and `waiting` has the calls that wait. `intents` is the
write-ahead log: an intent records a batch before it is created. `commands` has the functions behind
`equipoise batch`, and `checks` refuses sessions that are bound to fail.
"""
