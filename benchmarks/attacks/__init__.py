"""Families of attacks on the client and on whole sessions, for attack.py.

Each family is a function of a `Size` that returns a `Tally`.
"""

import sys
from pathlib import Path

# Endpoints and sessions are those of the tests.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tests"))
