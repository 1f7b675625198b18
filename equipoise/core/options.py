"""The options that every session has, whatever its suites, which have options of their own beside them."""

from __future__ import annotations

from equipoise.core.option import Option
from equipoise.core.parsers import (
    at_least,
    one_of,
    parse_fraction,
    parse_key,
    parse_number,
    parse_prompt,
    parse_seconds,
    parse_temperature,
    parse_url,
)
from equipoise.core.rules import parse_rule, parse_until

DEFAULT_EVALUATOR = "mistral-large-2512"
DEFAULT_BASE_URL = "http://localhost:4000"


def _sampling(role: str, temperature: float, prompt: str) -> tuple[Option, ...]:
    """The five options of a role that shape what it says."""
    default = f"default {temperature:g}; none sends none"
    return (
        Option(
            flag=f"--{role}-temperature",
            parse=parse_temperature,
            default=temperature,
            metavar="T",
            help=default,
        ),
        Option(flag=f"--{role}-top-p", parse=parse_fraction, metavar="P", help="not sent by default"),
        Option(flag=f"--{role}-top-k", parse=at_least(1), metavar="K", help="not sent by default"),
        Option(flag=f"--{role}-max-tokens", parse=at_least(1), help="not sent by default"),
        Option(flag=f"--{role}-system-prompt", parse=parse_prompt, metavar="TEXT", help=prompt),
    )


OPTIONS: tuple[Option, ...] = (
    Option(
        flag="--model",
        alias="--subject-model",
        metavar="M",
        help="the model under test; 'local' is the built-in model, 'local:FILE.gguf' any other GGUF file",
    ),
    Option(
        flag="--evaluator-model",
        metavar="M",
        many=True,
        default=(),
        help=f"the model that judges; repeat it for a panel (default {DEFAULT_EVALUATOR}, or local)",
    ),
    Option(
        flag="--api-base-url",
        metavar="URL",
        parse=parse_url,
        help=f"OpenAI-compatible endpoint (default $OPENAI_BASE_URL or {DEFAULT_BASE_URL})",
    ),
    Option(
        flag="--api-key",
        metavar="KEY",
        parse=parse_key,
        is_secret=True,
        help="its key (default $OPENAI_API_KEY); better set in the environment",
    ),
    Option(
        flag="--evaluator-api-base-url",
        metavar="URL",
        parse=parse_url,
        help="endpoint of the evaluators (default the subject's)",
    ),
    Option(
        flag="--evaluator-api-key",
        metavar="KEY",
        parse=parse_key,
        is_secret=True,
        help="key of the evaluators' endpoint (default the subject's where the endpoint is the same)",
    ),
    Option(
        flag="--runs",
        parse=at_least(1),
        help="runs of each case (default the suite's own)",
    ),
    Option(flag="--limit", parse=at_least(1), help="only the first N items of each file"),
    Option(flag="--language", metavar="L", many=True, default=(), help="only this language; repeatable"),
    Option(
        flag="--topics",
        metavar="PATH",
        help="question file or folder (default topics/<suite>); write --topics=PATH",
    ),
    *_sampling("subject", 1.0, "the text, or =@FILE; not sent by default"),
    *_sampling("evaluator", 0.0, "the text, or =@FILE, that is put before the rubric's own instruction"),
    Option(
        flag="--concurrency",
        recorded=True,
        parse=at_least(1),
        default=32,
        help="calls in flight over all workers (default 32)",
    ),
    Option(
        flag="--max-retries",
        recorded=True,
        parse=at_least(0),
        default=12,
        help="retries of a call that fails in transport (default 12)",
    ),
    Option(
        flag="--evaluator-attempts",
        recorded=True,
        parse=at_least(1),
        default=5,
        help="attempts at a valid verdict (default 5)",
    ),
    Option(
        flag="--request-timeout",
        recorded=True,
        parse=parse_seconds,
        default=600.0,
        metavar="S",
        help="seconds (default 600)",
    ),
    Option(
        flag="--case-timeout",
        recorded=True,
        parse=parse_seconds,
        default=3600.0,
        metavar="S",
        help="seconds that one run may take, waiting for its turn aside (default 3600)",
    ),
    Option(
        flag="--keep-going",
        switch=True,
        default=False,
        recorded=True,
        help="go on when a call's retries are exhausted",
    ),
    Option(flag="--estimate", switch=True, default=False, help="say what it would cost, and ask nothing"),
    Option(
        flag="--max-cost",
        recorded=True,
        parse=parse_number,
        metavar="USD",
        help="stop before this session has cost more; what is done is kept",
    ),
    Option(
        flag="--max-calls",
        recorded=True,
        parse=at_least(1),
        help="stop before this session has sent more requests; what is done is kept",
    ),
    Option(
        flag="--price-input",
        parse=parse_number,
        metavar="USD",
        help="price of a million input tokens, for models whose price is not known",
    ),
    Option(
        flag="--price-output",
        parse=parse_number,
        metavar="USD",
        help="price of a million output tokens, for models whose price is not known",
    ),
    Option(
        flag="--output",
        metavar="FILE",
        help="results file (default results/<model>.<suite>.json); write --output=FILE",
    ),
    Option(flag="--fresh", switch=True, default=False, help="archive what is there and ask everything again"),
    Option(
        flag="--rejudge",
        metavar="FILE",
        help="judge the replies of these results again, asking the subject nothing; write --rejudge=FILE",
    ),
    Option(
        flag="--until",
        parse=parse_until,
        metavar="RULE",
        help="stop after the round of runs that makes an interval so narrow, as overall:+-1.5pp",
    ),
    Option(
        flag="--baseline",
        metavar="FILE",
        help="compare with these earlier results; write --baseline=FILE",
    ),
    Option(
        flag="--gate",
        parse=parse_rule,
        metavar="RULE",
        many=True,
        default=(),
        help="fail if a figure is worse than the baseline's by more, as overall:-2pp; repeatable",
    ),
    Option(
        flag="--gate-inconclusive",
        parse=one_of("pass", "fail"),
        metavar="HOW",
        help="what an inconclusive gate counts as: pass or fail (default: exit status 6)",
    ),
    Option(
        flag="--allow-mismatch",
        switch=True,
        default=False,
        help="compare with a baseline of other data, rubric, evaluators or sampling on what is shared",
    ),
)
