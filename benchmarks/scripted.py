"""What the scripted endpoint says: a pure function of what a request is about.

It depends on the model, on what a subject is told by the user, and on the material that is quoted to an
evaluator; neither on the codes of the markers around that material, which differ by session, nor on the
wording of system prompts and rubrics, which differ by version. So whatever differs between two results is due
to the program that made them.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

QUOTED = re.compile(r"\[([^\[\]\n]+) (\w+)\]\n(.*?)\n\[end of \1 \2\]", re.DOTALL)
LABEL = re.compile(r"^\((\w)\) ", re.MULTILINE)
COUNTRY = re.compile(r"([A-G])\) (.+?)(?=\W*(?:\s\w+)?\s[A-G]\)|[?？;؟。]|$)")
SCALE = re.compile(r"(?<!\d)(?:0\D+100|100\D+0)(?!\d)")
SHARES = {"blocked": 3, "rejected": 2, "truncated": 3, "empty": 2, "refusal": 8}
"""How a subject's reply ends, in percent; else it is an answer."""
FAULTS = {"prose": 4, "cut": 2, "off the scale": 2, "other keys": 2}
"""What is wrong with an evaluator's verdict, in percent; else nothing is."""
ID = "chatcmpl-00000000"
"""The id of every completion, in place of which the server puts its own."""
Answer = tuple[int, dict[str, Any]]
"""A status and a body."""


def answer(body: dict[str, Any], *, recovers: bool) -> Answer:
    """What the endpoint answers. With `recovers` an evaluator mends its verdict when told to."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    if not str(body["model"]).startswith("judge"):
        return _subject(Dice(body["model"], *_told(body)), str(body["messages"][-1]["content"]))
    dice = Dice(body["model"], *(found[3] for found in QUOTED.finditer(text)))
    fault = None if recovers and _is_told_again(body) else dice.among(FAULTS, "fault")
    if "response_format" in body:
        return _verdict(body["response_format"]["json_schema"]["schema"], dice, fault)
    return _label(dict.fromkeys(LABEL.findall(text)), body, dice, fault)


class Dice:
    """Draws that depend on what they were made of and on what they are for."""

    def __init__(self, *of: str) -> None:
        self._of = "\0".join(of)

    def roll(self, purpose: str, sides: int) -> int:
        """A number from 0."""
        digest = hashlib.sha256(f"{purpose}\0{self._of}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % sides

    def among(self, shares: dict[str, int], purpose: str) -> str | None:
        """One of these, each with its share in percent, or none."""
        drawn = self.roll(purpose, 100)
        for name, share in shares.items():
            if drawn < share:
                return name
            drawn -= share
        return None


def _told(body: dict[str, Any]) -> list[str]:
    return [str(message["content"]) for message in body["messages"] if message["role"] != "system"]


def _is_told_again(body: dict[str, Any]) -> bool:
    roles = [message["role"] for message in body["messages"]]
    return roles.count("user") > 1


def _subject(dice: Dice, question: str) -> Answer:
    match dice.among(SHARES, "end"):
        case "blocked":
            return _completion("", finish_reason="content_filter")
        case "rejected":
            return 400, {"error": {"message": "Rejected by the filter.", "code": "content_filter"}}
        case "truncated":
            return _completion(_reply(dice, question)[:-5], finish_reason="length")
        case "empty":
            return _completion("")
        case "refusal":
            return _completion("I cannot help with that.")
    return _completion(_reply(dice, question))


def _reply(dice: Dice, question: str) -> str:
    """A country where the question offers some, named in one of several ways, or a number; else sentences."""
    if SCALE.search(question):
        return str(dice.roll("number", 101))
    countries = COUNTRY.findall(question)
    if not countries:
        length = 20 + dice.roll("length", 30)
        return " ".join(f"word{dice.roll(str(place), 1000)}" for place in range(length))
    letter, name = countries[dice.roll("country", len(countries))]
    other = countries[dice.roll("other", len(countries))][1]
    ways = (
        f"{name}.",
        f"{letter}) {name}",
        f"({letter})",
        f"It is {name}, and has been for long.",
        f"It is not part of {other}. It belongs to {name}.",
        f"Either {name} or {other}.",
        "That is disputed.",
    )
    return ways[dice.roll("way", len(ways))]


def _verdict(schema: dict[str, Any], dice: Dice, fault: str | None) -> Answer:
    """An object as the schema wants it, or with this fault."""
    found = {name: _field(name, kind, dice) for name, kind in schema["properties"].items()}
    match fault:
        case "prose":
            return _completion("I would rather not say.")
        case "cut":
            return _completion(json.dumps(found)[:-8], finish_reason="length")
        case "off the scale":
            found = {name: 99 if isinstance(value, int) else value for name, value in found.items()}
        case "other keys":
            found["remark"] = "One more."
    text = json.dumps(found, ensure_ascii=False)
    return _completion(f"```json\n{text}\n```" if dice.roll("fence", 5) == 0 else text)


def _field(name: str, kind: dict[str, Any], dice: Dice) -> Any:
    if "enum" in kind:
        return kind["enum"][dice.roll(name, len(kind["enum"]))]
    return dice.roll(name, 8) == 0 if kind["type"] == "boolean" else f"Because of {dice.roll(name, 1000)}."


def _label(labels: dict[str, None], body: dict[str, Any], dice: Dice, fault: str | None) -> Answer:
    """One of the labels, with the probabilities of its token where they are asked for and can be had."""
    listed = list(labels)
    if fault is not None:
        return _completion("That depends on the point of view.")
    shares = [1 + dice.roll(label, 50) for label in listed]
    best = listed[shares.index(max(shares))]
    if not body.get("logprobs") or dice.roll("probabilities", 8) == 0:
        return _completion((f"({best})", best, f"{best}.", f"Option {best}")[dice.roll("dress", 4)])
    return _completion(f"{best})", logprobs=_logprobs(listed, shares, best, dice))


def _logprobs(labels: list[str], shares: list[int], best: str, dice: Dice) -> dict[str, Any]:
    """The first token's: most of the probability is the labels', in several spellings; the rest another's."""
    total = sum(shares) + 1 + dice.roll("rest", 5)
    dress = ("{}", " {}", "({}")[dice.roll("spelling", 3)]
    top = [
        {"token": label if label == best else dress.format(label), "logprob": math.log(share / total)}
        for label, share in zip(labels, shares, strict=True)
    ]
    top.append({"token": "The", "logprob": math.log(1 - sum(shares) / total)})
    first = next(item for item in top if item["token"] == best)
    closing = {"token": ")", "logprob": -0.001, "top_logprobs": [{"token": ")", "logprob": -0.001}]}
    return {"content": [{**first, "top_logprobs": top}, closing]}


def _completion(text: str, **changes: Any) -> Answer:
    length = len(text.encode())
    usage = {"prompt_tokens": 100, "completion_tokens": length, "total_tokens": 100 + length}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message, **changes}
    return 200, {"id": ID, "object": "chat.completion", "model": "m-1", "choices": [choice], "usage": usage}
