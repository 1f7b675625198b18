"""Calls in batches, at half the price: at endpoints that take files of calls, or carried as files.

`transport` begins phases, `submissions` sends calls and reads replies at an `endpoint`, `files` writes and
reads the same lines, `waiting` has the calls that wait, `intents` is the write-ahead log, `commands` are
those of `equipoise batch`, and `checks` refuse what is bound to fail.
"""
