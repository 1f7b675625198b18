"""Options that several suites take; an option of a single suite is in its package."""

from __future__ import annotations

from equipoise.core.options import Option, at_least

DATASET = Option(
    flag="--dataset",
    metavar="NAME",
    help="which of a suite's sets of cases (default its first); original is the published one",
    comparable="must",
    label="dataset",
)
LABEL_SAMPLES = Option(
    flag="--label-samples",
    parse=at_least(1),
    default=1,
    help="answers to sample where an evaluator gives no token probabilities (default 1)",
    comparable="must",
    label="label samples",
    is_about_judging=True,
)
SEED = Option(
    flag="--seed",
    parse=at_least(0),
    default=0,
    help="seed of the order of the options (default 0)",
    comparable="must",
    label="seed",
)
