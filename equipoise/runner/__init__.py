"""Runs the cases of a session, and the jobs of a command. Knows no pytest.

Each part of a session's state has one owner, from the outside in:

- `Settings` (core): the options, which never change.
- `Plan`: the suites with their cases, runs in order, rules and baselines, loaded at first use.
- `Session`: locks, the history of each journal, built-in servers, the selected runs and extra jobs. It
  creates the plan, the counters and the engine.
- `Counters` (models): the numbers of calls, tokens and dollars, the open round, and why the session stops.
  Any thread may read them.
- `Engine`: the event loop in its thread, the runs that wait for their turn or are in progress, the futures
  that tests wait for, and the journals that are written to.
- `CallContext`: what all calls share on that loop: client, limiter, budget, routes and batches.
- `RunCalls`: the calls of one run, and its time limit.
- `Progress`: which runs tests have reported, and the results that were written.
"""
