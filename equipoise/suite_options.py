"""The options that only some suites take."""

from __future__ import annotations

from equipoise.option import Option
from equipoise.parsers import at_least, one_of, parse_existing, parse_function

SUITE_OPTIONS: tuple[Option, ...] = (
    Option(
        flag="--deck",
        of_suites=True,
        alias="--dataset",
        metavar="NAME",
        help="which of a suite's sets of cases (default its first); original is the published one",
    ),
    Option(
        flag="--label-samples",
        of_suites=True,
        parse=at_least(1),
        default=1,
        help="answers of an evaluator whose endpoint gives no token probabilities (default 1)",
    ),
    Option(
        flag="--pair-order",
        of_suites=True,
        parse=one_of("both", "original"),
        default="both",
        metavar="HOW",
        help="show evaluators a pair in both orders, or in the original one only (default both)",
    ),
    Option(
        flag="--strategy",
        of_suites=True,
        parse=one_of("vanilla", "un_peacekeeper", "nationalist", "demographics", "all"),
        default="vanilla",
        metavar="NAME",
        help="what the subject is told before a question of borderlines (default vanilla)",
    ),
    Option(
        flag="--method",
        of_suites=True,
        parse=one_of("generate", "rank"),
        default="generate",
        metavar="HOW",
        help="borderlines: read the answer, or rank the countries' names, else their letters, by likelihood",
    ),
    Option(
        flag="--parse",
        of_suites=True,
        parse=one_of("own", "original"),
        default="own",
        metavar="HOW",
        help="borderlines: how an answer is read; original is the published way (default own)",
    ),
    Option(
        flag="--option-order",
        of_suites=True,
        parse=one_of("seeded", "fixed"),
        default="seeded",
        metavar="HOW",
        help="borderlines: countries in an order of chance by --seed, or as in the table (default seeded)",
    ),
    Option(
        flag="--seed",
        of_suites=True,
        parse=at_least(0),
        default=0,
        help="borderlines, chinese_simpleqa: what the order of the options is made of (default 0)",
    ),
    Option(
        flag="--prompt-style",
        of_suites=True,
        parse=one_of("direct", "recall", "step_by_step", "few_shot"),
        default="direct",
        metavar="HOW",
        help="chinese_simpleqa: recall or reason first, or continue a text of examples (default direct)",
    ),
    Option(
        flag="--answer-format",
        of_suites=True,
        parse=one_of("open", "choice", "shuffled"),
        default="open",
        metavar="HOW",
        help="chinese_simpleqa: offer four answers, sorted or shuffled by question (default open)",
    ),
    Option(
        flag="--confidence",
        of_suites=True,
        switch=True,
        default=False,
        help="chinese_simpleqa: ask how sure the model is, 0 to 100",
    ),
    Option(
        flag="--retrieval",
        of_suites=True,
        parse=parse_existing,
        metavar="PATH",
        help="chinese_simpleqa: give passages from this folder or file; write --retrieval=PATH",
    ),
    Option(
        flag="--retriever",
        of_suites=True,
        parse=parse_function,
        metavar="M:F",
        help="chinese_simpleqa: your own function that finds the passages, module:function",
    ),
)
SUITE_DEFAULTS = {option.name: option.default for option in SUITE_OPTIONS}
"""What holds where nothing is said of the options that only some suites take."""
