"""Components of the variance of scores, and the effect of more questions, runs or evaluators.

A score is modelled as a fixed effect of its language and evaluator plus five random effects, the components,
which have the names of `Component`:

- `question`: the question
- `language`: the question in this language
- `run`: the reply, which is one run of the question in this language
- `evaluator`: the evaluator's view of the question in this language, whatever the reply
- `rest`: the evaluator's view of this reply, and the noise of its verdict

Questions are a sample; the languages and the panel of evaluators are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Literal

import numpy as np
from msgspec import structs
from scipy.special import nctdtrinc  # scipy has no types

from equipoise.core.figures import StudyDesign
from equipoise.stats.intervals import Array, Codes, codes, student

Component = Literal["question", "language", "run", "evaluator", "rest"]
Factor = Literal["questions", "runs", "evaluators"]
ScoreKey = tuple[str, str, int, str]
"""The question, language, run and evaluator of a score."""
# The parts of a ScoreKey that all scores of one level of a component share.
_GROUPING: Mapping[Component, tuple[int, ...]] = {
    "question": (0,),
    "language": (0, 1),
    "run": (0, 1, 2),
    "evaluator": (0, 1, 3),
    "rest": (0, 1, 2, 3),
}
_COMPONENT_OF: Mapping[Factor, Component] = {
    "questions": "question",
    "runs": "run",
    "evaluators": "evaluator",
}


NO_VERDICTS = "no evaluator scored a whole run"
"""The reason for missing components if nothing was judged, or only parts of runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Variance components of one verdict, in squared points of the scale.

    Estimates below zero are set to 0 and named in `negative`. Differences between languages and between
    evaluators are fixed effects and not included. `variance` has the components that the data can
    distinguish; `merged` maps each of the others to the component that contains it. With one run, "run" is
    part of "language"; with one evaluator, "evaluator" is part of "language" and "rest" part of "run". If
    nothing can be estimated, `variance` is empty and `reason` says why.
    """

    variance: Mapping[Component, float]
    negative: tuple[Component, ...] = ()
    merged: Mapping[Component, Component] = field(default_factory=dict)
    reason: str | None = None

    @property
    def share(self) -> Mapping[Component, float]:
        """Each component's share of their sum, 0 to 1; empty if all are zero."""
        total = math.fsum(self.variance.values())
        return {name: variance / total for name, variance in self.variance.items()} if total else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """How much doubling each factor of a design narrows the interval.

    `narrowing` has, by factor, the part of the interval's width that doubling it saves, 0 to 1. `half_width`
    is the present half-width, in points of the scale. `unknown` has the factors whose effect the data do not
    show, because they have only one run or one evaluator.
    """

    design: StudyDesign
    half_width: float
    narrowing: Mapping[Factor, float]
    unknown: tuple[Factor, ...]

    @property
    def best_factor(self) -> Factor:
        """The factor that narrows the interval most; of equal ones, the first."""
        return max(self.narrowing, key=self.narrowing.__getitem__)


def estimate_components(scores: Mapping[ScoreKey, float]) -> Components:
    """The components of variance of single verdicts, by the method of moments; data may be unbalanced.

    Scores are centred within each pair of language and evaluator. For each component, the sum of squares
    between its levels, sum of (level total)^2 / (level size), as in Henderson's methods 1 and 2 (1953,
    Biometrics 9, 226-252), is set equal to its expectation trace(A V) (Searle, Casella and McCulloch 1992,
    Variance Components, chapter 5), which allows for missing scores and for the centring. Apart from setting
    negative estimates to 0, the estimates are unbiased. They need no normal distribution, and for balanced
    data they equal those of the analysis of variance. Interactions with a fixed effect are unrestricted.
    ValueError for a score that is not finite.
    """
    values = np.array([*scores.values()], dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("a score is not a finite number: leave out what has no score")
    if not scores:
        return Components(variance={}, reason=NO_VERDICTS)
    if len({question for question, *_ in scores}) < 2:
        return Components(variance={}, reason="fewer than 2 questions")
    levels, merged = _distinct_levels(list(scores))
    fixed = codes((language, evaluator) for _, language, _, evaluator in scores)
    expected = np.array([[_expected_squares(a, b, fixed) for b in levels.values()] for a in levels.values()])
    # Rows are scaled, so that the tolerance is relative.
    if np.linalg.matrix_rank(expected / np.diag(expected)[:, None].clip(1.0), tol=1e-6) < len(levels):
        return Components(variance={}, reason="too few scores in common to tell the components apart")
    centred = values - (np.bincount(fixed, values) / np.bincount(fixed))[fixed]
    squares = [(np.bincount(level, centred) ** 2 / np.bincount(level)).sum() for level in levels.values()]
    estimates = np.linalg.solve(expected, squares)
    estimates[np.abs(estimates) < 1e-12 * np.abs(values).max() ** 2] = 0.0  # rounding errors
    return Components(
        variance=dict(zip(levels, estimates.clip(0.0).tolist(), strict=True)),
        negative=tuple(name for name, variance in zip(levels, estimates, strict=True) if variance < 0),
        merged=merged,
    )


def predict_se(
    components: Components, questions: int, languages: int, runs: int, evaluators: int
) -> float | None:
    """The standard error of the mean score under a design, in points; None without components.

    Var = question / Q + language / QL + run / QLR + evaluator / QLE + rest / QLRE: questions are random,
    languages and the panel fixed. A merged component shrinks with the one that contains it: if the data have
    one run, more runs do not reduce the error. For balanced data, the error predicted for their own design is
    the clustered standard error, unless an estimate was below zero. ValueError for a number below 1.
    """
    design = StudyDesign(questions=questions, languages=languages, runs=runs, evaluators=evaluators)
    return math.sqrt(math.fsum(_variance_parts(components, design).values())) if components.variance else None


def advice(components: Components, design: StudyDesign) -> Advice | None:
    """The effect of doubling each factor on the 95 % interval of Student's t; None without components.

    Every component is divided by the number of questions, so doubling the questions always narrows the
    interval at least as much as any other factor: by 29 % (1 - 1 / sqrt(2)) plus a little for the degrees of
    freedom. The data show how close the cheaper factors come to that. ValueError for a design of one
    question, which has no interval.
    """
    if not components.variance:
        return None
    width = _half_width(components, design)
    known = [name for name, component in _COMPONENT_OF.items() if component in components.variance]
    doubled = {name: structs.replace(design, **{name: 2 * getattr(design, name)}) for name in known}
    widths = {name: _half_width(components, larger) for name, larger in doubled.items()}
    return Advice(
        design=design,
        half_width=width,
        narrowing={name: 1 - narrower / width if width else 0.0 for name, narrower in widths.items()},
        unknown=tuple(name for name in _COMPONENT_OF if name not in known),
    )


def smallest_difference(
    components: Components,
    design: StudyDesign,
    power: float = 0.8,
    alpha: float = 0.05,
    *,
    shared: float = 0.5,
) -> float | None:
    """The smallest true difference of two models, in points, that a paired t test detects with this power.

    Both models answer the same questions under the same panel and have the same components. `shared` is the
    part of the question and language components, 0 to 1, that the models have in common and that therefore
    cancels; 0 is an unpaired comparison. It is an assumption, to be published with the figure: Miller (2024,
    A statistical approach to model evaluations) reports correlations of 0.3 to 0.7 between frontier models'
    question scores.

    Var(d) = 2 [(1 - shared) (question / Q + language / QL) + run / QLR + evaluator / QLE + rest / QLRE]. The
    result is its root times the noncentrality of Student's t with Q - 1 degrees of freedom (Cohen 1988,
    Statistical Power Analysis, section 2.2). None without components; ValueError for one question, or if
    `shared`, `alpha` or `power` is out of range.
    """
    if not (0 <= shared <= 1 and 0 < alpha < power < 1):
        raise ValueError(f"need 0 <= shared <= 1 and 0 < alpha < power < 1: {shared!r}, {alpha!r}, {power!r}")
    if not components.variance:
        return None
    critical = _critical_value(design, 1 - alpha)
    # A component that contains the variance between runs does not cancel.
    remaining = {
        name: 1 - shared for name in ("question", "language") if name != components.merged.get("run")
    }
    variance = 2 * math.fsum(
        remaining.get(name, 1.0) * part for name, part in _variance_parts(components, design).items()
    )
    return float(nctdtrinc(design.questions - 1, 1 - power, critical)) * math.sqrt(variance)


def sentence(advice: Advice, questions: str = "questions") -> str:
    """The advice as an English sentence; `questions` is the suite's plural noun for its questions."""
    if not advice.half_width:
        return "Nothing varied: there is no interval to narrow."
    best, nouns = advice.best_factor, {"questions": questions}
    saving = _percent(advice.narrowing[best])
    clauses = [f"Doubling the {nouns.get(best, best)} would narrow the interval most (by {saving})"]
    others = [(name, part) for name, part in advice.narrowing.items() if name != best]
    clauses += [f"doubling the {nouns.get(name, name)} by {_percent(part)}" for name, part in others]
    clauses += [
        f"what more {nouns.get(name, name)} would do cannot be estimated from one" for name in advice.unknown
    ]
    return "; ".join(clauses) + "."


def _distinct_levels(keys: Sequence[ScoreKey]) -> tuple[dict[Component, Codes], dict[Component, Component]]:
    """The level of each score for each component, and the merged components.

    A component is merged into the first earlier one that groups the scores in the same way.
    """
    levels: dict[Component, Codes] = {}
    merged: dict[Component, Component] = {}
    for name, indices in _GROUPING.items():
        own = codes(map(itemgetter(*indices), keys))
        if same := [other for other, earlier in levels.items() if np.array_equal(own, earlier)]:
            merged[name] = same[0]
        else:
            levels[name] = own
    return levels, merged


def _expected_squares(a: Codes, b: Codes, fixed: Codes) -> float:
    """The expected sum of squares between the levels of `a` for a variance of 1 between those of `b`.

    It is the squared norm of D_a^(-1/2) Z_a' M Z_b. Z_a and Z_b are the indicators of the levels of `a` and
    `b`, D_a = Z_a' Z_a, and M centres within the levels of `fixed`. The matrix is S - L R', where S, `sparse`
    below, has an entry for each pair of levels that occurs, and L and R, `left` and `right`, are narrow.
    """
    pairs, counts = np.unique(a * len(b) + b, return_counts=True)
    rows, columns = pairs // len(b), pairs % len(b)
    roots = np.sqrt(np.bincount(a))
    sparse = counts / roots[rows]
    left, right = _level_counts(a, fixed) / roots[:, None] / np.bincount(fixed), _level_counts(b, fixed)
    crossed = sparse @ (left[rows] * right[columns]).sum(axis=1)
    return float(sparse @ sparse - 2 * crossed + ((left.T @ left) * (right.T @ right)).sum())


def _level_counts(levels: Codes, fixed: Codes) -> Array:
    """The number of scores by level of a component and level of `fixed`."""
    counts = np.zeros((levels.max() + 1, fixed.max() + 1))
    np.add.at(counts, (levels, fixed), 1)
    return counts


def _variance_parts(components: Components, design: StudyDesign) -> dict[Component, float]:
    """Each component's part of the squared standard error of the mean score under a design."""
    counts = (design.questions, design.languages, design.runs, design.evaluators)
    sizes = {name: math.prod(counts[i] for i in indices) for name, indices in _GROUPING.items()}
    return {name: variance / sizes[name] for name, variance in components.variance.items()}


def _critical_value(design: StudyDesign, confidence: float) -> float:
    if design.questions < 2:
        raise ValueError("an interval needs at least two questions")
    return student(design.questions - 1, confidence)


def _half_width(components: Components, design: StudyDesign) -> float:
    return _critical_value(design, 0.95) * math.sqrt(math.fsum(_variance_parts(components, design).values()))


def _percent(part: float) -> str:
    return "less than 1 %" if 0 < part < 0.005 else f"{100 * part:.0f} %"
