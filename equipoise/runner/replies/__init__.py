"""`--replies`: judges replies that exist already, of any application or of earlier results.

`rows` reads a file of replies, `fitting` finds their runs, `own` reads earlier results, `transport` answers
the subject's calls with either, `adopting` takes the settings that a file decides, `sheet` is a file to fill
in.
"""
