"""Arbitrary input to what reads the writing of others, and the only complaint that it may make."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from equipoise.core.errors import UserError
from equipoise.core.types import JSON

modest = settings(
    deadline=None,
    max_examples=25,
    derandomize=True,
    # The files of a test are written again for every example.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
"""How many inputs a quick test tries; a slow one takes eight times as many."""
thorough = settings(modest, max_examples=200)


any_text = st.text(st.characters(exclude_categories=[]), max_size=40)
any_json: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


def made_of(*fragments: str) -> st.SearchStrategy[str]:
    """Texts of these fragments and of others."""
    return st.lists(st.sampled_from(fragments) | any_text, max_size=12).map("".join)


@st.composite
def mutated(draw: st.DrawFn, whole: JSON) -> JSON:
    """A JSON value of which one to three parts, however deep, are left out or replaced."""
    holder = [json.loads(json.dumps(whole))]
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(list(places(holder))))
        if draw(st.booleans()) and container is not holder:
            del container[key]
        else:
            container[key] = draw(any_json)
    return holder[0]


def places(container: Any) -> Iterator[tuple[Any, Any]]:
    """Every value within a container, as the container that it is in and its key there."""
    for key in container if isinstance(container, dict) else range(len(container)):
        yield container, key
        if isinstance(container[key], dict | list):
            yield from places(container[key])


@contextmanager
def user_errors() -> Iterator[None]:
    """Whoever made the input may be told so, in one line."""
    message = ""
    try:
        yield
    except UserError as error:
        message = str(error)
    assert "\n" not in message
