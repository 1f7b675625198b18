"""Replies of the scripted endpoint: a pure function of the content of a request.

A reply depends on the model, on the user messages to a subject, and on the material that is quoted to an
evaluator. It does not depend on the codes of the markers around the material, which differ by session, or on
the wording of system prompts and rubrics, which differ by version. Any difference between two results is
therefore due to the program that made them.
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
"""The share of each ending of a subject's reply, in percent; the rest are answers."""
FAULTS = {"prose": 4, "cut": 2, "off the scale": 2, "other keys": 2}
"""The share of each fault of an evaluator's verdict, in percent; the rest are valid."""
ID = "chatcmpl-00000000"
"""The id of every completion, which the server replaces by an id of its own."""
Answer = tuple[int, dict[str, Any]]
"""The status and the body of a response."""


def answer(body: dict[str, Any], *, recovers: bool) -> Answer:
    """The response to a request. With `recovers`, an evaluator's second attempt is a valid verdict."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    if not str(body["model"]).startswith("judge"):
        return _subject(Dice(body["model"], *_conversation(body)), str(body["messages"][-1]["content"]))
    dice = Dice(body["model"], *(match[3] for match in QUOTED.finditer(text)))
    fault = None if recovers and _is_second_attempt(body) else dice.choose(FAULTS, "fault")
    if "response_format" in body:
        return _verdict(body["response_format"]["json_schema"]["schema"], dice, fault)
    return _label(dict.fromkeys(LABEL.findall(text)), body, dice, fault)


class Dice:
    """Pseudo-random draws that depend only on the seeds and on the purpose of a draw."""

    def __init__(self, *seeds: str) -> None:
        self._seed = "\0".join(seeds)

    def roll(self, purpose: str, sides: int) -> int:
        """A number from 0 to `sides` - 1."""
        digest = hashlib.sha256(f"{purpose}\0{self._seed}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % sides

    def choose(self, shares: dict[str, int], purpose: str) -> str | None:
        """One of the names, each with its share in percent; None for the rest."""
        number = self.roll(purpose, 100)
        for name, share in shares.items():
            if number < share:
                return name
            number -= share
        return None


def _conversation(body: dict[str, Any]) -> list[str]:
    return [str(message["content"]) for message in body["messages"] if message["role"] != "system"]


def _is_second_attempt(body: dict[str, Any]) -> bool:
    roles = [message["role"] for message in body["messages"]]
    return roles.count("user") > 1


def _subject(dice: Dice, question: str) -> Answer:
    match dice.choose(SHARES, "end"):
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
    """A number if the question has a scale; a country if it offers several, in varying words; else words."""
    if SCALE.search(question):
        return str(dice.roll("number", 101))
    countries = COUNTRY.findall(question)
    if not countries:
        length = 20 + dice.roll("length", 30)
        return " ".join(f"word{dice.roll(str(index), 1000)}" for index in range(length))
    letter, name = countries[dice.roll("country", len(countries))]
    other = countries[dice.roll("other", len(countries))][1]
    wordings = (
        f"{name}.",
        f"{letter}) {name}",
        f"({letter})",
        f"It is {name}, and has been for long.",
        f"It is not part of {other}. It belongs to {name}.",
        f"Either {name} or {other}.",
        "That is disputed.",
    )
    return wordings[dice.roll("way", len(wordings))]


def _verdict(schema: dict[str, Any], dice: Dice, fault: str | None) -> Answer:
    """An object that fits the schema, unless it has this fault; now and then in a code fence."""
    verdict = {name: _field(name, kind, dice) for name, kind in schema["properties"].items()}
    match fault:
        case "prose":
            return _completion("I would rather not say.")
        case "cut":
            return _completion(json.dumps(verdict)[:-8], finish_reason="length")
        case "off the scale":
            verdict = {name: 99 if isinstance(value, int) else value for name, value in verdict.items()}
        case "other keys":
            verdict["remark"] = "One more."
    text = json.dumps(verdict, ensure_ascii=False)
    return _completion(f"```json\n{text}\n```" if dice.roll("fence", 5) == 0 else text)


def _field(name: str, kind: dict[str, Any], dice: Dice) -> Any:
    if kind["type"] == "object":
        return {key: _field(f"{name} {key}", inner, dice) for key, inner in kind["properties"].items()}
    if "enum" in kind:
        return kind["enum"][dice.roll(name, len(kind["enum"]))]
    return dice.roll(name, 8) == 0 if kind["type"] == "boolean" else f"Because of {dice.roll(name, 1000)}."


def _label(labels: dict[str, None], body: dict[str, Any], dice: Dice, fault: str | None) -> Answer:
    """One of the labels; with token probabilities if they are requested, in seven of eight cases."""
    options = list(labels)
    if fault is not None:
        return _completion("That depends on the point of view.")
    weights = [1 + dice.roll(label, 50) for label in options]
    best = options[weights.index(max(weights))]
    if not body.get("logprobs") or dice.roll("probabilities", 8) == 0:
        return _completion((f"({best})", best, f"{best}.", f"Option {best}")[dice.roll("dress", 4)])
    return _completion(f"{best})", logprobs=_logprobs(options, weights, best, dice))


def _logprobs(labels: list[str], weights: list[int], best: str, dice: Dice) -> dict[str, Any]:
    """Log probabilities of two tokens: the first shares most of it among labels, in varying spelling."""
    total = sum(weights) + 1 + dice.roll("rest", 5)
    spelling = ("{}", " {}", "({}")[dice.roll("spelling", 3)]
    top = [
        {"token": label if label == best else spelling.format(label), "logprob": math.log(weight / total)}
        for label, weight in zip(labels, weights, strict=True)
    ]
    top.append({"token": "The", "logprob": math.log(1 - sum(weights) / total)})
    first = next(item for item in top if item["token"] == best)
    closing = {"token": ")", "logprob": -0.001, "top_logprobs": [{"token": ")", "logprob": -0.001}]}
    return {"content": [{**first, "top_logprobs": top}, closing]}


def _completion(text: str, **changes: Any) -> Answer:
    length = len(text.encode())
    usage = {"prompt_tokens": 100, "completion_tokens": length, "total_tokens": 100 + length}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message, **changes}
    return 200, {"id": ID, "object": "chat.completion", "model": "m-1", "choices": [choice], "usage": usage}
