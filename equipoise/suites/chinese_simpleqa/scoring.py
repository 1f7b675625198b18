"""Metrics of short answers: shares, calibration, best of several runs; and how answers are read. Pure.

With A correct, B incorrect and C not attempted of n: CO = A/n, IN = B/n, NA = C/n, CGA = A/(A+B), and F the
harmonic mean of CO and CGA, 2A/(2n-C) (He and others 2024, Chinese SimpleQA).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from itertools import pairwise

from equipoise.core.types import JSON
from equipoise.core.unicode import nfkc
from equipoise.stats import mean

CORRECT, INCORRECT, NOT_ATTEMPTED = "A", "B", "C"
GRADES = (CORRECT, INCORRECT, NOT_ATTEMPTED)
_IN_TIES = (INCORRECT, NOT_ATTEMPTED, CORRECT)
"""The order of precedence in a tie."""
BINS = 10
SHORTEST = 12
"""The minimum number of letters that identify another language; fewer may be a name."""
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LATIN = re.compile(r"[a-z]")
_SMALL = re.compile(r"[a-z\u00df-\u024f\u03ac-\u03ce\u0430-\u045f]")
_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_VERB = re.compile(r"\b(?:is|was|are|were|has|have|do|don|know|think|est|es|ist|fue)\b", re.ASCII)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PUNCTUATION = re.compile(r"[^\w.,-]+|_+|(?!(?<=\d)[.,](?=\d)|(?<!\w)-(?=\d))[.,-]")
"""Characters that are neither letters nor digits, and do not belong to a number."""
_ARTICLE = re.compile(
    r"(?:^|[.!?\n])[^\w.!?\n]*A\s+(?!(?:is|was|because|since|as|for|seems|must|would|and|or)\b)[a-z]"
)
"""The article "A" at the beginning of an English sentence, which is not the choice of option A."""
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*%?")


def shares(correct: float, incorrect: float, not_attempted: float) -> dict[str, float | None]:
    """CO, IN, NA, CGA and F in percent, 0 to 100; all None if there is no answer.

    CGA and F are 0 if nothing was attempted.
    """
    n, attempted = correct + incorrect + not_attempted, correct + incorrect
    if not n:
        return dict.fromkeys(("correct", "incorrect", "not_attempted", "correct_given_attempted", "f"))
    return {
        "correct": 100 * correct / n,
        "incorrect": 100 * incorrect / n,
        "not_attempted": 100 * not_attempted / n,
        "correct_given_attempted": 100 * correct / attempted if attempted else 0.0,
        "f": 200 * correct / (2 * n - not_attempted) if attempted else 0.0,
    }


def majority(grades: Sequence[str]) -> str | None:
    """The grade that most evaluators gave; in a tie incorrect before not attempted before correct."""
    most = max(map(grades.count, grades), default=0)
    return next((grade for grade in _IN_TIES if most and grades.count(grade) == most), None)


def best_of(counts: Sequence[Sequence[bool]], runs: int) -> list[dict[str, JSON]]:
    """The share of questions with a correct answer among k tries, for each k up to `runs`, in percent.

    `counts` holds for each question whether its answers are correct, in order. `prefix` takes the first k
    answers; `unbiased` is the mean of 1 - C(n-c, k) / C(n, k), with n answers of which c are correct. Only
    questions with at least k answers count.
    """
    curve: list[dict[str, JSON]] = []
    for k in range(1, runs + 1):
        enough = [answers for answers in counts if len(answers) >= k]
        curve.append(
            {
                "tries": k,
                "questions": len(enough),
                "prefix": mean([100.0 * any(answers[:k]) for answers in enough]),
                "unbiased": mean([100.0 * _chance(len(answers), sum(answers), k) for answers in enough]),
            }
        )
    return curve


def _chance(n: int, correct: int, k: int) -> float:
    return 1 - math.comb(n - correct, k) / math.comb(n, k)


def calibration(stated: Sequence[tuple[float, bool]]) -> dict[str, JSON]:
    """Stated confidence, 0 to 100, against the share of correct answers, in ten bins closed on the left.

    The last bin also includes 100. `ece` is the expected calibration error: the mean distance between the two
    over the bins, weighted by their numbers of answers, in percentage points.
    """
    rows = []
    for low, high in pairwise(range(0, 101, 100 // BINS)):
        inside = [pair for pair in stated if low <= pair[0] < high or pair[0] == high == 100]
        rows.append({"low": low, "high": high, **_bin(inside)})
    gaps = [row["n"] * abs(row["confidence"] - row["accuracy"]) for row in rows if row["n"]]
    return {"bins": rows, **_bin(stated), "ece": math.fsum(gaps) / len(stated) if stated else None}


def _bin(stated: Sequence[tuple[float, bool]]) -> dict[str, JSON]:
    return {
        "n": len(stated),
        "confidence": mean([confidence for confidence, _ in stated]),
        "accuracy": mean([100.0 * is_correct for _, is_correct in stated]),
    }


# Reading answers.


def json_part(text: str) -> JSON:
    """The JSON from the first opening brace to the last closing one; None if there is none."""
    try:
        return json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return None


def stated(text: str) -> tuple[str, float] | None:
    """The answer and the confidence, 0 to 100, in a JSON reply; None if it is not valid."""
    data = json_part(text)
    if not isinstance(data, dict):
        return None
    answer = data.get("answer")
    if not isinstance(answer, str | int | float) or isinstance(answer, bool):
        return None
    confidence = _confidence(data.get("confidence"))
    return None if confidence is None else (str(answer), confidence)


def _confidence(value: JSON) -> float | None:
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value.strip())
        value = float(match[1]) if match else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 100 else None


def after_marker(text: str, marker: str) -> str | None:
    """The text after the last marker, in full-width or other characters; None without a marker."""
    forms = ((re.escape(c), re.escape(nfkc(c))) for c in marker)
    parts = re.split("".join(f"(?:{'|'.join(dict.fromkeys(pair))})" for pair in forms), text)
    return parts[-1] if len(parts) > 1 else None


def chosen_option(text: str, options: Sequence[str], letters: str, marker: str) -> int | None:
    """The index of the option that an answer chooses; None if it chooses none, or several.

    If there is a `marker`, only the text after the last one counts, and a letter that ends its first sentence
    decides. Otherwise it is the only letter that stands by itself, with any punctuation around it, or else
    the only option that is named; longer names are matched first.
    """
    last = after_marker(text, marker)
    answer = nfkc(text if last is None else last).strip()
    if letter := _lone(answer, letters, is_first_enough=last is not None):
        return letters.index(letter)
    named = set()
    for index in sorted(range(len(options)), key=lambda index: -len(options[index])):
        answer, count = _spelled(options[index]).subn(" ", answer)
        named |= {index} if count else set()
    singles = set(re.findall(rf"(?<![A-Za-z0-9])[{letters}](?![A-Za-z0-9])", _ARTICLE.sub(" ", answer)))
    if len(singles) == 1:
        return letters.index(singles.pop())
    return named.pop() if len(named) == 1 and not singles else None


def _lone(answer: str, letters: str, *, is_first_enough: bool) -> str | None:
    """The letter that is the whole answer, or that ends an English sentence such as "the answer is B".

    With `is_first_enough`, also a letter that is the whole first sentence.
    """
    match = re.fullmatch(rf"\W*([{letters}])\W*", answer, re.IGNORECASE)
    match = match or re.search(
        rf"\b(?:answer|choice|option)(?: is|:)\W*([{letters}])\W*$", answer, re.IGNORECASE
    )
    if is_first_enough and match is None:
        ends, another = r"[\s*_`\"')\]]*(?:[.;!(\n\u3002]|$)", rf"\W*(?:or\b\W*)?[{letters}](?!\w)"
        match = re.match(rf"\W*([{letters}])(?!\w)(?!{another}){ends}", answer)
    return match[1].upper() if match else None


def _spelled(option: str) -> re.Pattern[str]:
    """A pattern of an option in any spacing and punctuation, not within a longer number or Latin word."""
    text = normal(option)
    if not text:
        return re.compile(r"(?!)")
    # The lookbehinds follow the first character, because `re` finds a literal prefix fast.
    first = re.escape(text[0])
    before = rf"(?<!\d{first})(?<!\d[.,]{first})(?<!^-{first})(?<!\W-{first})" if text[0].isdigit() else ""
    after = r"(?![.,]?\d)" if text[-1].isdigit() else ""
    before += rf"(?<![A-Za-z]{first})" if _LATIN.match(text) else ""
    after += r"(?![A-Za-z])" if _LATIN.match(text[-1]) else ""
    rest = "".join(_gap(a, b) + re.escape(b) for a, b in pairwise(text))
    return re.compile(first + before + rest + after, re.IGNORECASE)


def _gap(before: str, after: str) -> str:
    """Pattern between two characters of a normal form: in a number only separators of thousands."""
    if before.isdigit() and after.isdigit():
        return ",?"
    return "" if before in " .,-" or after in ".," else r"[\W_]*"


def is_exact(text: str, accepted: Sequence[str]) -> bool:
    """Whether an answer is one of the accepted spellings and nothing else."""
    return normal(text) in set(map(normal, accepted))


def normal(text: str) -> str:
    """The letters and digits of a text, normalised and in lower case.

    The only punctuation kept is that on which the value of a number depends: decimal separators and a leading
    minus. Separators of thousands are dropped.
    """
    folded = _THOUSANDS.sub("", nfkc(text).casefold().replace("\u2212", "-"))
    return _PUNCTUATION.sub("", folded)


def is_in_other_language(text: str, names: Sequence[str]) -> bool:
    """Whether a reply is in another language than Chinese.

    It is if fewer than one in five letters are Han, or at least one in five is Japanese kana or Korean. A
    reply with fewer than a dozen letters must also contain a verb. `names`, such as the accepted spellings,
    do not count, nor do capitalised words and digits, because they belong to no language.
    """
    rest = nfkc(text)
    if not (_SMALL.search(rest) or _KANA_OR_HANGUL.search(rest)):
        return False
    for name in sorted(names, key=len, reverse=True):
        rest = re.sub(re.escape(nfkc(name)), " ", rest, flags=re.IGNORECASE)
    rest = _WORD.sub(lambda word: "" if word[0][0].isupper() else word[0], rest)
    letters = "".join(character for character in rest if character.isalpha())
    han, others = (len(script.findall(letters)) for script in (_HAN, _KANA_OR_HANGUL))
    is_decidable = len(letters) >= SHORTEST or _VERB.search(rest) is not None
    return is_decidable and (han * 5 < len(letters) or others * 5 >= len(letters))
