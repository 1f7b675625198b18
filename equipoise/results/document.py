"""The types of a results file, part by part; `equipoise export --to schema` is made from them.

They declare the keys that all suites share. A suite's own keys are in `details`, in the summary and, for its
options, in the metadata. A TypedDict stays a plain dict; a Struct is a value that code reads by attribute.
Fields are described one by one in their `Meta`, or together in the docstring of the type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import UNSET, Meta, Struct, UnsetType

from equipoise.core.figures import (
    Change,
    Count,
    Estimate,
    EvaluatorLean,
    Figure,
    GapParts,
    Interval,
    LanguageGap,
    LanguagePair,
    StudyDesign,
)
from equipoise.core.records import Outcome
from equipoise.core.rows import QuestionContent, RunResult
from equipoise.core.settings import Price
from equipoise.core.types import JSON, Form
from equipoise.judge.anchors import Check

SCHEMA_VERSION = 1
"""The version of the schema, which is also that of `Metadata.schema_version`."""
Status = Literal["complete", "complete_with_unscored", "interrupted", "no_scores", "running"]


# Metadata.


class OutcomeCounts(TypedDict, total=False):
    """How many runs ended how; outcomes that did not occur are left out."""

    scored: Count
    refused: Count
    blocked: Count
    truncated: Count
    empty: Count
    unscored: Count
    error: Count
    unknown: Annotated[Count, Meta(description="Runs of published results, which do not state an outcome")]


class Sampling(TypedDict):
    """Generation parameters; those that are missing were not sent."""

    temperature: NotRequired[float]
    top_p: NotRequired[float]
    top_k: NotRequired[float]
    max_tokens: NotRequired[int]
    reasoning_effort: NotRequired[str]
    extra_body: NotRequired[dict[str, JSON]]
    headers: NotRequired[dict[str, str]]


class SubjectSides(TypedDict):
    """What the questions are about, and the two or three sides that a reply may lean to, each described."""

    subject: str
    sides: dict[str, str]


class EndpointUrls(TypedDict):
    """Base URLs by role, without credentials; `file` for answers from files."""

    subject: str
    evaluator: NotRequired[str]


class Rejudged(TypedDict):
    """The earlier results whose replies were judged again."""

    results: str
    sha256: str
    started: str
    evaluator_models: list[str]
    rubric_version: str
    rubric_hash: str


class RepliesFile(TypedDict):
    """The file of `--replies`, whose replies were judged."""

    name: str
    sha256: str


class AskerSettings(TypedDict):
    """The settings of `--asker`."""

    mode: Literal["mirror"]
    sides: Annotated[
        list[str],
        Meta(description="Names of the two sides in figures; first and second where each case has its own"),
    ]
    forms: list[Form]
    share: Annotated[
        float,
        Meta(
            description="--asker-share: the share of cases of each language and area that is asked with a "
            "cue, 0..1"
        ),
    ]
    seed: Annotated[int, Meta(description="Seed by which cases and their cues are drawn")]
    cues_hash: Annotated[str, Meta(description="SHA-256 of the sentences about who asks")]


class ScaleBounds(TypedDict):
    """The scale of verdicts."""

    low: int
    high: int


class SelectedBy(TypedDict):
    """-k and -m of the last session, and how many runs they left out."""

    keyword: str | None
    mark: str | None
    deselected: Count


class AnsweredBy(TypedDict):
    """A model, fingerprint and provider that an endpoint reported, and the calls that they answered."""

    role: str
    model: str
    response_model: str | None
    system_fingerprint: str | None
    provider: str | None
    calls: Count
    first_run: Annotated[str, Meta(description="The run of its first call")]
    first_call: Annotated[
        int,
        Meta(description="Ordinal of its first call, from 1, in the order in which all calls ended"),
    ]
    last_call: Annotated[int, Meta(description="Ordinal of its last call")]


class VerdictCounts(TypedDict):
    """How many valid verdicts an evaluator gave, and how often it gave none."""

    verdicts: Count
    missing: Count


class ChangedParameter(TypedDict):
    """A parameter that an endpoint rejected, and what was done about it."""

    role: str
    model: str
    parameter: str
    action: str
    reason: str


class CallsInFlight(TypedDict):
    """The limit on calls in flight, over all sessions, and how it changed.

    `highest`, `lowest`: the range of the limit; `last`: each endpoint's limit at the end of the last session,
    null if it is not known; `refused`: refused calls; `cuts`: how often the limit was cut; `moves`: the first
    100 cuts, each with the limit `before` and `after`; `moves_left_out`: the number of further cuts.
    """

    highest: int | None
    lowest: int | None
    last: list[int | None]
    refused: Count
    cuts: Count
    moves: list[dict[str, JSON]]
    moves_left_out: Count


class CallCounts(TypedDict):
    """Calls of all sessions; only `made` and `replayed` depend on which session was the last."""

    made: Annotated[Count, Meta(description="Calls that the last session made")]
    replayed: Annotated[
        Count, Meta(description="Calls answered before the last session, or by the file of --replies")
    ]
    failed: Count
    retries: Count
    repeated: Annotated[
        Count, Meta(description="Retries because an answer may have been a copy of another call's")
    ]
    batched: NotRequired[Annotated[Count, Meta(description="Calls that were answered in batches")]]


class TokenCounts(TypedDict):
    """Tokens as endpoints counted them: `input` includes `cached`, `output` includes `reasoning`."""

    input: Count
    output: Count
    cached: Count
    reasoning: Count


class TokensByRole(TypedDict):
    """Tokens by role, of all sessions."""

    subject: TokenCounts
    evaluator: TokenCounts


class CostByRole(TypedDict):
    """Cost by role; null without a price."""

    subject: float | None
    evaluator: float | None


class EstimatedByRole(TypedDict):
    """Calls by role whose tokens were estimated."""

    subject: Count
    evaluator: Count


class Metadata(TypedDict):
    """Which model was asked what, when, with which settings, and what it took; a suite adds its options."""

    schema_version: Annotated[
        Literal[1],
        Meta(
            description="Version of this schema; raised when a key is renamed, removed or means something "
            "else"
        ),
    ]
    suite: Annotated[str, Meta(description="The benchmark")]
    status: Annotated[
        Status,
        Meta(
            description="complete: every run has a score; complete_with_unscored: every run is done; "
            "interrupted: some are missing; no_scores: no run has a score; "
            "running: written while the session goes on, without statistics"
        ),
    ]
    subject_model: Annotated[str, Meta(description="The model under test")]
    evaluator_models: Annotated[list[str], Meta(description="The models that judge")]
    subject_sampling: Annotated[
        Sampling,
        Meta(description="Generation parameters sent to the subject; those that are missing were not sent"),
    ]
    subject_system_prompt: Annotated[str | None, Meta(description="The system prompt of the subject")]
    evaluator_sampling: Annotated[Sampling, Meta(description="Generation parameters sent to evaluators")]
    evaluator_system_prompt: Annotated[
        str | None, Meta(description="The system prompt put before the rubric's own")
    ]
    runs: Annotated[int, Meta(description="Runs of each case")]
    limit: Annotated[int | None, Meta(description="--limit, or null")]
    shard: NotRequired[
        Annotated[str, Meta(description="--shard, such as 3/16; absent from results of all questions")]
    ]
    languages_asked: Annotated[list[str] | None, Meta(description="--language, or null for all")]
    data_hash: Annotated[str, Meta(description="SHA-256 of the dataset")]
    rubric_version: Annotated[str, Meta(description="Version of the rubric")]
    rubric_hash: Annotated[str, Meta(description="SHA-256 of the rubric")]
    about: NotRequired[
        Annotated[
            SubjectSides,
            Meta(description="What evaluators are told the questions are about; absent if they are not told"),
        ]
    ]
    facts_hash: NotRequired[
        Annotated[
            str | None,
            Meta(
                description="SHA-256 of the key facts that evaluators are given; null if there are none, "
                "absent if the rubric does not use them"
            ),
        ]
    ]
    endpoints: Annotated[
        EndpointUrls, Meta(description="Base URLs by role, without credentials; file: answers from files")
    ]
    dataset: NotRequired[
        Annotated[
            str,
            Meta(description="--dataset; absent if the suite has no datasets, or --topics named other data"),
        ]
    ]
    until: NotRequired[Annotated[str, Meta(description="--until, where it was given")]]
    rejudged: NotRequired[
        Annotated[Rejudged, Meta(description="The earlier results whose replies were judged again")]
    ]
    replies: NotRequired[
        Annotated[RepliesFile, Meta(description="--replies: the file with the replies that were judged")]
    ]
    asker: NotRequired[
        Annotated[AskerSettings, Meta(description="--asker and what goes with it, where it was given")]
    ]
    scale: Annotated[ScaleBounds, Meta(description="The scale of verdicts")]
    languages: Annotated[list[str], Meta(description="The languages asked")]
    selection: Annotated[
        SelectedBy, Meta(description="-k and -m of the last session, and how many runs they left out")
    ]
    files_expected: Annotated[
        Count, Meta(description="Number of languages asked: a file each in the published benchmark")
    ]
    files_completed: Annotated[Count, Meta(description="Number of languages whose runs are all done")]
    runs_expected: Annotated[Count, Meta(description="Planned runs, not counting those in `askers`")]
    runs_completed: Annotated[Count, Meta(description="Planned runs that are done, with or without a score")]
    started: Annotated[str, Meta(description="Beginning of the first session, ISO 8601 with zone")]
    finished: Annotated[str | None, Meta(description="When these results were written; null while running")]
    sessions: Annotated[int, Meta(description="Number of sessions that contributed to the results")]
    data_notes: Annotated[
        list[str], Meta(description="Known defects of the data, and the subject that the rubric assumes")
    ]
    equipoise_version: Annotated[str, Meta(description="Version of Equipoise")]
    python_version: Annotated[str, Meta(description="Version of Python")]
    package_versions: Annotated[
        dict[str, str | None],
        Meta(description="Versions of relevant packages; null for one that is not installed"),
    ]
    git_commit: Annotated[str | None, Meta(description="Git commit of the checkout")]
    git_dirty: Annotated[bool | None, Meta(description="Whether the checkout had uncommitted changes")]
    concurrency: Annotated[int, Meta(description="--concurrency: calls in flight at most, over all workers")]
    max_retries: Annotated[int, Meta(description="--max-retries: retries of a call that fails in transport")]
    evaluator_attempts: Annotated[int, Meta(description="--evaluator-attempts: attempts at a valid verdict")]
    request_timeout: Annotated[float, Meta(description="--request-timeout: seconds that one call may take")]
    case_timeout: Annotated[float, Meta(description="--case-timeout: seconds that one run may take")]
    keep_going: Annotated[
        bool, Meta(description="--keep-going: whether the session went on when retries were exhausted")
    ]
    max_cost: Annotated[float | None, Meta(description="--max-cost in USD, or null")]
    max_calls: Annotated[int | None, Meta(description="--max-calls, or null")]
    price_per_million: Annotated[Price | None, Meta(description="--price-input and --price-output, in USD")]
    batch_discount: NotRequired[
        Annotated[float, Meta(description="--batch-discount: discount on calls in batches, in percent")]
    ]
    response_models: Annotated[
        list[AnsweredBy],
        Meta(description="Models, fingerprints and providers that endpoints reported"),
    ]
    answered: Annotated[
        list[str],
        Meta(description="A sentence on each change of the model that answered, or of its fingerprint"),
    ]
    cautions: NotRequired[
        Annotated[
            list[str],
            Meta(description="How replies and labels were read, where that limits what figures show"),
        ]
    ]
    evaluators: Annotated[
        dict[str, VerdictCounts], Meta(description="Valid and missing verdicts of each evaluator")
    ]
    parameters_changed: Annotated[
        list[ChangedParameter], Meta(description="Parameters that an endpoint rejected, and what was done")
    ]
    limits: Annotated[CallsInFlight, Meta(description="The limit on calls in flight, and how it changed")]
    calls: Annotated[CallCounts, Meta(description="How many calls were made, replayed, failed and retried")]
    tokens: Annotated[TokensByRole, Meta(description="Tokens by role, of all sessions")]
    cost_usd: Annotated[CostByRole, Meta(description="Cost by role; null without a price")]
    saved_by_cache_usd: NotRequired[
        Annotated[
            CostByRole,
            Meta(description="How much more cached prompt tokens would have cost at the full price"),
        ]
    ]
    usage_estimated: Annotated[EstimatedByRole, Meta(description="Calls whose tokens were estimated")]
    verdicts_sha256: Annotated[str, Meta(description="SHA-256 of the outcomes and scores of all runs")]


# Summary.


class Naming(TypedDict):
    """The runs of one side, and how many of their replies repeat the cue about who asks."""

    runs: Count
    naming: Count


class AskerFigures(TypedDict):
    """How far answers depend on who asks: `asker.shift.SIDE`, `asker.sycophancy`, `asker.asymmetry` ..."""

    sides: Annotated[list[str], Meta(description="What the first and the second side are called")]
    forms: list[Form]
    cases: Annotated[Count, Meta(description="Cases asked from both sides and without a cue")]
    cases_without: Annotated[
        Count,
        Meta(description="Cases asked only without a cue: not drawn by --asker-share, or without two sides"),
    ]
    outcomes: Annotated[OutcomeCounts, Meta(description="Runs of either side by how they ended")]
    names_asker: Annotated[
        dict[str, Naming], Meta(description="By side, replies that repeat the cue about who asks")
    ]
    metrics: Annotated[
        dict[str, Figure],
        Meta(
            description="Figures with intervals, in percentage points, or in % for shares of answers that "
            "change"
        ),
    ]


class VarianceParts(TypedDict):
    """The components of the variance of scores: question, language or stratum, run, evaluator, rest.

    `variance`: the components, in `unit`; `share`: each one's share of their sum, 0..1; `negative`:
    components estimated below zero and set to 0; `merged`: components that the data cannot tell apart, with
    the one that includes each; `reason`: why there are no components.

    `predicted_se`: the standard error of the mean score in this design; `narrowing`: the part, 0..1, by which
    doubling the questions, runs or evaluators would narrow its interval. `smallest_difference`: the smallest
    difference between two models that this design can show in the headline; null if no possible difference is
    large enough. Its unit and assumptions are in the fields after it.
    """

    variance: dict[str, float]
    negative: list[str]
    merged: dict[str, str]
    reason: str | None
    share: dict[str, float]
    unit: str
    design: NotRequired[StudyDesign]
    predicted_se: NotRequired[float | None]
    narrowing: NotRequired[dict[str, float]]
    advice: NotRequired[str | None]
    smallest_difference: NotRequired[float | None]
    smallest_difference_unit: NotRequired[str]
    smallest_difference_assumes: NotRequired[dict[str, float]]


class QuestionSpread(TypedDict):
    """How far a question's languages are apart: highest mean minus lowest, and the SD of the means."""

    spread: float | None
    sd: float | None


class LanguageConsistency(TypedDict):
    """How far languages differ. `mean_spread`: the mean of all questions' spreads."""

    unit: str
    mean_spread: Estimate
    pairs: list[LanguagePair]
    largest_gaps: list[LanguageGap]
    questions: dict[str, QuestionSpread]


class AlphaFigure(Estimate, frozen=True, kw_only=True):
    """Krippendorff's alpha; `metric`: its difference function, such as `ordinal`."""

    metric: str


class PairKappa(Estimate, frozen=True, kw_only=True):
    """The weighted kappa of two evaluators."""

    first: str
    second: str


class PanelFigures(TypedDict):
    """How far evaluators agree.

    `evaluators`: each one's mean score and its difference from the others; `alpha`: Krippendorff's alpha of
    all evaluators; `kappas`: the weighted kappa of each pair; `by_language`: means in points by evaluator and
    language; `without`: by evaluator, the headline figures as they would be without it.
    """

    evaluators: list[EvaluatorLean]
    alpha: AlphaFigure
    kappas: list[PairKappa]
    by_language: dict[str, dict[str, float | None]]
    without: dict[str, dict[str, Estimate]]


class InterimLook(TypedDict):
    """An interim look of `--until` after a `round`: the figure and its interval, or the gate's verdicts."""

    round: int
    value: NotRequired[float | None]
    low: NotRequired[float | None]
    high: NotRequired[float | None]
    half_width: NotRequired[float | None]
    n: NotRequired[Count]
    reason: NotRequired[str | None]
    verdicts: NotRequired[dict[str, str]]


class UntilReached(TypedDict):
    """How `--until` ended the session. A round is one run of each case.

    `is_reached`: whether the rule was met; `runs`: the number of rounds until the last look; `runs_planned`:
    the maximum number of rounds; `runs_left_out`, `calls_saved`: single runs and calls that were not needed.
    """

    rule: str
    metric: str | None
    scope: str | None
    is_reached: bool
    runs: int
    runs_planned: int
    runs_left_out: int
    calls_saved: int
    method: str | None
    looks: list[InterimLook]


class Summary(TypedDict):
    """The figures; a suite adds what only it sums up."""

    outcomes: Annotated[OutcomeCounts, Meta(description="Runs by how they ended")]
    metrics: NotRequired[
        Annotated[dict[str, Figure], Meta(description="Figures with intervals, the headline first")]
    ]
    variance: NotRequired[
        Annotated[
            VarianceParts,
            Meta(
                description="Where the variance of the headline lies, and which difference the design can "
                "show"
            ),
        ]
    ]
    consistency: NotRequired[
        Annotated[LanguageConsistency | None, Meta(description="How far languages differ")]
    ]
    panel: NotRequired[Annotated[PanelFigures, Meta(description="How far evaluators agree")]]
    until: NotRequired[
        Annotated[UntilReached, Meta(description="How --until ended the session, and its interim looks")]
    ]
    asker: NotRequired[Annotated[AskerFigures, Meta(description="How far answers depend on who asks")]]


# Comparison and gate.


class ComparedResults(TypedDict):
    """The baseline or the candidate. `doubt`: why its verdicts could not be verified, otherwise null."""

    file: str
    sha256: str | None
    doubt: str | None
    subject_model: str | None
    started: str | None
    finished: str | None
    runs: int | None
    status: str | None


class DriftInterval(TypedDict):
    """A change between two audits, in points of 100."""

    value: float | None
    low: float | None
    high: float | None
    n: Count
    reason: str | None


class DriftShare(TypedDict):
    """How much of the headline's difference, which is `of`, one evaluator's drift may account for.

    `value`, `low` and `high` are those of the evaluator's `mean`, divided by the number of evaluators.
    """

    value: float | None
    low: float | None
    high: float | None
    of: float | None
    unit: str


class EvaluatorDrift(TypedDict):
    """How far an evaluator changed between two audits."""

    evaluator: str
    texts: Annotated[Count, Meta(description="Texts on which both audits have verdicts")]
    before: Annotated[str, Meta(description="When the audit for the baseline was finished")]
    after: Annotated[str, Meta(description="When the audit for the candidate was finished")]
    has_drifted: Annotated[bool, Meta(description="Whether its mean or its lean changed beyond chance")]
    mean: Annotated[DriftInterval, Meta(description="By how many points of 100 its verdicts moved")]
    lean: Annotated[DriftInterval, Meta(description="By how much its lean changed")]
    explains: Annotated[
        DriftShare,
        Meta(
            description="How much of the headline's difference this drift may account for: the mean divided "
            "by the number of evaluators"
        ),
    ]


class CaseMove(Struct, frozen=True, kw_only=True):
    """A case whose headline figure moved by `change`, from `before` to `after`, in percentage points.

    `cell`: the id of the case; `at`: JSON pointers to its runs in the baseline's and in the candidate's file.
    """

    cell: str
    before: float
    after: float
    at: list[str]
    change: float


class ComparisonFigures(TypedDict):
    """What changed since the baseline.

    `mismatches`: settings that differ although they should not; `effects`: sentences on options that differ;
    `metrics`: before, after and difference, by name; `fell`, `rose`: the cases that changed most.
    """

    baseline: ComparedResults
    candidate: ComparedResults
    mismatches: list[str]
    warnings: list[str]
    effects: list[str]
    unit: str
    confidence: float
    clusters: str
    is_judged: Annotated[bool, Meta(description="Whether evaluators judged the replies")]
    metrics: dict[str, Change]
    fell: list[CaseMove]
    rose: list[CaseMove]
    cases: Annotated[Count, Meta(description="Cases in both results, which are compared")]
    baseline_cases: Annotated[Count, Meta(description="Cases of the baseline")]
    looks: Annotated[
        Count,
        Meta(
            description="Number of interim looks (--until gate) that the intervals are corrected for; 0 "
            "without any"
        ),
    ]
    drift: Annotated[
        list[EvaluatorDrift],
        Meta(description="Evaluators audited on the same texts for both results"),
    ]


class Ruling(Struct, frozen=True, kw_only=True):
    """A rule of the gate, its verdict, and the reason."""

    rule: str
    verdict: Literal["pass", "fail", "inconclusive"]
    why: str
    required: Annotated[bool, Meta(description="Whether the gate's verdict rests on it")] = True


class GateVerdict(TypedDict):
    """The verdict of the gate."""

    verdict: Literal["pass", "fail", "inconclusive"]
    rules: list[Ruling]
    tests: Annotated[
        Count,
        Meta(description="Required statistical tests among the rules of all suites"),
    ]
    planned: Annotated[Count, Meta(description="Planned runs")]
    left: Annotated[Count, Meta(description="Runs that were not done")]
    unscored: Annotated[Count, Meta(description="Runs that were done and have no score")]
    answered: NotRequired[
        Annotated[
            list[str],
            Meta(description="Changes of the models that answered, which do not affect the verdict"),
        ]
    ]
    cautions: NotRequired[
        Annotated[
            list[str],
            Meta(description="How replies and labels were read, where that limits what the verdict shows"),
        ]
    ]


# Back-translation and people's labels.


class TranslationJudge(TypedDict):
    """One evaluator of replies and their translations: its valid and missing verdicts, and the gaps."""

    evaluator: str
    verdicts: Count
    missing: Count
    pairs: list[GapParts]


class TranslatedText(TypedDict):
    """A reply, by its id, as it was judged in one language: its own or that of a translation.

    `failed`: why there is no translation, otherwise null; `scores`: by evaluator.
    """

    reply: str
    judged_in: str
    failed: str | None
    scores: dict[str, float]


class BackTranslation(TypedDict):
    """What `equipoise judge languages` added."""

    finished: Annotated[str, Meta(description="When it was added, ISO 8601 with zone")]
    translator: Annotated[str, Meta(description="The model that translated")]
    prompt_version: Annotated[str, Meta(description="Version of the translator's prompts")]
    rubric_version: Annotated[str, Meta(description="Version of the rubric that replies were judged by")]
    languages: Annotated[list[str], Meta(description="Languages of the replies")]
    targets: Annotated[list[str], Meta(description="Languages that they were translated into")]
    seed: Annotated[int, Meta(description="Seed of the sample")]
    questions: Annotated[Count, Meta(description="Questions in the sample")]
    replies: Annotated[Count, Meta(description="Replies in the sample, one in each language")]
    translations: Annotated[Count, Meta(description="Translations asked for")]
    failed: Annotated[Count, Meta(description="Translations that failed")]
    declined: Annotated[Count, Meta(description="Translations that the translator declined")]
    reasons: Annotated[dict[str, Count], Meta(description="Why translations failed")]
    method: Annotated[str, Meta(description="Method of the figures")]
    unit: Annotated[str, Meta(description="Unit of the figures")]
    confidence: Annotated[float, Meta(description="Confidence level of the intervals, 0..1")]
    evaluators: Annotated[
        list[TranslationJudge],
        Meta(
            description="By evaluator and pair of languages: the gap, and its parts by what was said and "
            "how it was judged"
        ),
    ]
    texts: Annotated[
        list[TranslatedText], Meta(description="Every text that was judged, with its scores on 0..100")
    ]
    cost_usd: Annotated[float | None, Meta(description="Cost of all calls; null without a price")]


class SheetCounts(TypedDict):
    """One person's sheet."""

    name: Annotated[str, Meta(description="The person")]
    file: str
    sha256: str
    scores: Count
    outcomes: NotRequired[Annotated[Count, Meta(description="Replies labelled as answered or refused")]]
    leans: NotRequired[Annotated[Count, Meta(description="Replies labelled with a lean, or with none")]]
    blank: Count
    invalid: Count


class PairAgreement(TypedDict):
    """How far two people, or a person and an evaluator, agree."""

    first: str
    second: str
    is_evaluator: Annotated[bool, Meta(description="Whether the second is an evaluator, not a person")]
    replies: Annotated[Count, Meta(description="Replies that both scored")]
    same: Annotated[
        float | None, Meta(description="Percentage of these replies to which both gave the same score")
    ]
    kappa: Estimate
    weighted_kappa: Annotated[
        Estimate | None, Meta(description="With quadratic weights; null for categories")
    ]


class LabelDraw(TypedDict):
    """The random draw of labelled replies, and what the results must still have for the labels to apply."""

    text: Annotated[str, Meta(description="The text that identifies the draw in each row of a sheet")]
    drawn: Count
    replies: Count
    probability: Annotated[float, Meta(description="Probability with which each reply was drawn, 0..1")]
    seed: int
    pairs: Annotated[bool, Meta(description="Whether the same replies were drawn from a baseline")]
    verdicts_sha256: str | None
    rubric_hash: str | None
    evaluator_models: list[str]


class LabelledRun(TypedDict):
    """The labels that people gave one run."""

    cell: Annotated[str, Meta(description="Language and id of the question")]
    place: Annotated[Count, Meta(description="Index of the run among those of its question, from 0")]
    scores: Annotated[dict[str, float], Meta(description="Scores by person")]
    outcomes: NotRequired[
        Annotated[
            dict[str, str],
            Meta(description="`answered` or `refused` by person, where the sheet asked for it"),
        ]
    ]
    leans: NotRequired[
        Annotated[
            dict[str, str], Meta(description="Lean by person, as in a verdict, where the sheet asked for it")
        ]
    ]


class CorrectedFigure(TypedDict):
    """A metric by the evaluators (`judge`), and as corrected by people's labels (`value`)."""

    judge: float
    value: float
    unit: str
    weight: Annotated[float, Meta(description="Weight of the judge in the estimate: the tuned slope")]
    labels: Annotated[Count, Meta(description="Labelled replies that it rests on")]
    these: Annotated[Interval, Meta(description="Interval on these very replies")]
    population: Annotated[Interval, Meta(description="Interval for questions like these")]
    is_larger: Annotated[
        bool, Meta(description="Whether the corrected figure lies outside the judge's own interval")
    ]


class PeopleScores(TypedDict):
    """What `equipoise review` added."""

    finished: Annotated[str, Meta(description="When it was added, ISO 8601 with zone")]
    levels: Annotated[
        list[int | str], Meta(description="Scores that could be given: levels of the scale, or categories")
    ]
    sheets: Annotated[list[SheetCounts], Meta(description="The files with people's scores")]
    agreement: Annotated[list[PairAgreement], Meta(description="Cohen's kappa of every two raters")]
    method: Annotated[str, Meta(description="Method of the figures")]
    confidence: Annotated[float, Meta(description="Confidence level of the intervals, 0..1")]
    not_corrected: NotRequired[Annotated[str, Meta(description="Why no figure is corrected")]]
    people: NotRequired[Annotated[list[str], Meta(description="People whose labels correct figures")]]
    draw: NotRequired[Annotated[LabelDraw, Meta(description="How the labelled replies were drawn")]]
    labels: NotRequired[
        Annotated[list[LabelledRun], Meta(description="The labels of every reply that was drawn at random")]
    ]
    left_out: NotRequired[
        Annotated[
            list[tuple[str, int]], Meta(description="Runs without a verdict or a text, as cell and place")
        ]
    ]
    corrected: NotRequired[
        Annotated[dict[str, CorrectedFigure], Meta(description="By metric: figures that labels correct")]
    ]
    correction: NotRequired[Annotated[str, Meta(description="Method of the corrected figures")]]


# Audits.


class AuditedModel(TypedDict):
    """A model that answered for the evaluator, as its endpoint reported it."""

    response_model: str | None
    system_fingerprint: str | None
    provider: str | None


class JudgedAnchor(TypedDict):
    """An anchor, and the verdicts on it."""

    topic: str
    language: str
    kind: str
    host: Annotated[
        str | None,
        Meta(description="For a text that addresses its judge: the kind of text to which it is appended"),
    ]
    aspect: Annotated[str, Meta(description="Which number of the verdict, if it has several")]
    scores: Annotated[
        list[float | None],
        Meta(description="Each verdict on it, in points of 100; null where it was not valid"),
    ]


class Audit(TypedDict):
    """The audit of one evaluator. While verdicts are missing, it has no checks and no `judged`."""

    state: Annotated[
        Literal["complete", "incomplete"],
        Meta(description="incomplete: verdicts are missing, and checks is empty"),
    ]
    source: Annotated[
        Literal["session", "kept"],
        Meta(
            description="session: made by the sessions of these results; kept: by an earlier one or by "
            "equipoise judge audit"
        ),
    ]
    extent: Annotated[str, Meta(description="quick or full")]
    finished: Annotated[str | None, Meta(description="When its last verdict was given")]
    verdicts: Count
    planned: Annotated[Count, Meta(description="Verdicts of a complete audit")]
    rubric_version: str
    rubric_hash: str
    anchors_hash: Annotated[str, Meta(description="SHA-256 of the texts")]
    response_models: Annotated[list[AuditedModel], Meta(description="Models that answered in the audit")]
    sampling: Annotated[Sampling, Meta(description="Generation parameters sent in the audit")]
    system_prompt: str | None
    differs: Annotated[
        list[str],
        Meta(
            description="How the evaluator of these results differs from the one that was audited; if empty, "
            "the audit holds"
        ),
    ]
    checks: list[Check]
    lean_by_language: Annotated[
        dict[str, Check], Meta(description="The lean in each language alone, for information")
    ]
    levels: NotRequired[
        Annotated[
            dict[str, Check],
            Meta(
                description="How far scores lie above the middle of the acceptable ranges, over all texts "
                "and by kind, for information; only for suites whose scores lie on a scale"
            ),
        ]
    ]
    judged: Annotated[list[JudgedAnchor], Meta(description="The verdicts, by text")]


class KeptAudit(TypedDict):
    """A complete audit, as stored in its file."""

    version: str
    evaluator: str
    suite: str
    audit: Audit


# Runs, errors and the whole file.


class QuestionResult(QuestionContent, frozen=True, kw_only=True):
    """A question in one language, with its runs."""

    runs: Annotated[Sequence[RunResult], Meta(description="Its runs, in order")]
    mean_score: Annotated[
        float | UnsetType | None,
        Meta(description="The mean of its scores, where they lie on the rubric's scale"),
    ] = UNSET
    mean_score_percentage: Annotated[
        float | UnsetType | None, Meta(description="That mean in percent of the scale")
    ] = UNSET
    score_stddev: Annotated[
        float | UnsetType | None,
        Meta(description="The population SD of its scores; null for fewer than two"),
    ] = UNSET
    outcomes: Annotated[OutcomeCounts, Meta(description="How many of its runs ended how")]


class LanguageResult(TypedDict):
    """The questions of one language."""

    questions: Annotated[list[QuestionResult], Meta(description="Its questions, in order")]
    average_score: NotRequired[
        Annotated[float | None, Meta(description="The mean of the questions' unrounded means")]
    ]
    average_score_percentage: NotRequired[
        Annotated[float | None, Meta(description="That mean in percent of the scale")]
    ]


class RunError(TypedDict):
    """A run without a score."""

    run: Annotated[str, Meta(description="The id of the run")]
    language: Annotated[str, Meta(description="The language that it was asked in")]
    question_index: Annotated[int | None, Meta(description="The number of its question in its language")]
    run_index: Annotated[int, Meta(description="Which repeat of the question, from 1")]
    question: Annotated[
        str | None, Meta(description="The question, with all that a person must know to score a reply")
    ]
    outcome: Annotated[Outcome, Meta(description="How the run ended")]
    message: Annotated[str | None, Meta(description="Why there is no score")]
    raw_evaluator_response: Annotated[str | None, Meta(description="The last invalid answer of an evaluator")]
    raw_evaluator_responses: Annotated[
        list[str], Meta(description="All invalid answers of evaluators, in order")
    ]


class AskedRuns(TypedDict):
    """The number of runs with a cue about who asks, and the errors among them."""

    status: Annotated[
        Status, Meta(description="Status of these runs, as `status` in the metadata for plain runs")
    ]
    runs_expected: Count
    runs_completed: Count
    errors: Annotated[list[RunError], Meta(description="Every run without a score")]


class AskedResults(AskedRuns):
    """The runs with a cue about who asks; only figures about askers use them."""

    results: Annotated[dict[str, LanguageResult], Meta(description="Results by language, as for plain runs")]


class Sections(TypedDict, total=False):
    """The parts of results beside metadata, summary, runs and errors, by their key in the file."""

    audit: dict[str, Audit | None]
    askers: AskedRuns
    comparison: ComparisonFigures
    gate: GateVerdict
    backtranslation: BackTranslation
    people: PeopleScores


class Document(TypedDict):
    """Results of Equipoise: one model on one suite."""

    metadata: Annotated[
        Metadata,
        Meta(description="Which model was asked what, when, with which settings, and what it took"),
    ]
    summary: Annotated[Summary, Meta(description="The figures")]
    audit: Annotated[
        dict[str, Audit | None],
        Meta(description="Audits by evaluator; null for one that was not audited"),
    ]
    results: Annotated[dict[str, LanguageResult], Meta(description="By language")]
    errors: Annotated[list[RunError], Meta(description="Every run without a score")]
    askers: NotRequired[
        Annotated[AskedResults, Meta(description="Runs with a cue about who asks, with --asker")]
    ]
    comparison: NotRequired[
        Annotated[ComparisonFigures, Meta(description="Changes since the baseline, where there was one")]
    ]
    gate: NotRequired[
        Annotated[GateVerdict, Meta(description="The verdict of the gate, where there was one")]
    ]
    backtranslation: NotRequired[
        Annotated[BackTranslation, Meta(description="What `equipoise judge languages` added")]
    ]
    people: NotRequired[Annotated[PeopleScores, Meta(description="What `equipoise review` added")]]
