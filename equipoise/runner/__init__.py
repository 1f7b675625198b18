"""Runs the cases of a session, and the jobs of a command. Independent of pytest.

Each part of a session's state belongs to one class, from the outermost to the innermost:

- `Settings` (core): the options; immutable.
- `Plan`: the suites with their cases, ordered runs, rules and baselines, loaded at first use.
- `Session`: locks, the history of each journal, built-in servers, selected runs and extra jobs. It creates
  the plan, the counters and the engine.
- `Counters` (models): the numbers of calls, tokens and dollars, the open round, and why the session stops.
  Any thread may read them.
- `Engine`: the event loop in its thread, the queued and running runs, the futures that tests wait for, and
  the open journals.
- `CallContext`: what all calls on that loop share: client, limiter, budget, routes, and the transport of
  each role: live, or a package of `transports.TRANSPORTS`.
- `RunCalls`: the calls of one run, and its time limit.
- `Progress`: the runs that have finished, and the results that were written.
"""
