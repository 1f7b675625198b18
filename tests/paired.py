"""Results of paired prompts, made by hand, as several evaluators have judged them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equipoise.core.records import Choice


def session(model: str, *shares: Mapping[str, float | None], blocked: str | None = None) -> dict[str, Any]:
    """The results of a model: of each run who gave what p(even), and no refusals; of all a side blocked."""
    rows = []
    for number, given in enumerate(shares):
        compared = [
            Choice(
                evaluator=name, probabilities=share if share is None else {"A": 0, "B": 0, "C": share}
            ).to_json()
            for name, share in given.items()
        ]
        level = [Choice(evaluator=name, probabilities={"1": 1, "4": 0, "5": 0}).to_json() for name in given]
        judgements = {"even_original": compared, "refusal_a": level, "refusal_b": level}
        run = {"run_index": 1, "blocked": {"a": blocked, "b": None}, "judgements": judgements}
        about = {"pair": f"p{number}", "area": "tea", "partisan": False, "category": "essay", "kind": "pair"}
        leans = {"template": "essay", "lean_a": "", "lean_b": ""}
        rows.append({"id": f"p{number}", **about, **leans, "runs": [run]})
    return {"metadata": {"subject_model": model}, "results": {"en-US": {"pairs": rows}}}


def even(e: int, f: int, of: int = 8) -> list[dict[str, float | None]]:
    """So many runs that e found even, and f, of eight."""
    return [{"e": float(n < e), "f": float(n < f)} for n in range(of)]
