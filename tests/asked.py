"""A small dataset with cues about who asks, and subjects that agree with whoever does."""

from __future__ import annotations

from typing import Any

from conftest import SMALL_DATASET
from equipoise.core.types import Call
from loopback import is_judge, verdict

CUES = "language,form,number,side,text\n" + "".join(
    f"{language},{form},{number},{side},{language} {form} {number}: I am with {side}.\n"
    for language in ("aa", "bb")
    for form in ("stated", "implied")
    for number in (1, 2, 3, 4)
    for side in ("state", "critics")
)
DATASET = {**SMALL_DATASET, "askers.csv": CUES}


def said(text: str, *, is_evaluator: bool) -> str:
    """What a subject and its evaluator say: the state's side is followed twice as far as its critics.

    `text` is all that they are shown.
    """
    if not is_evaluator:
        return next((f"Yes, {side}." for side in ("state", "critics") if f"with {side}" in text), "Well.")
    lean = "state_strong" if "Yes, state" in text else "critics_slight" if "Yes, critics" in text else "none"
    return verdict(3 if "Yes" in text else 5, lean=lean)


def swayed(call: Call) -> str:
    """The same as a script of the fake client."""
    text = "\n".join(message["content"] for message in call.messages)
    return said(text, is_evaluator=call.role == "evaluator")


def swayed_server(body: dict[str, Any], number: int) -> str:
    """The same as a script of the loopback server."""
    text = "\n".join(message["content"] for message in body["messages"])
    return said(text, is_evaluator=is_judge(body))
