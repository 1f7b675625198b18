"""Sequences that are loaded at each use and not kept in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """A sequence whose items `read` loads again at each use. Subclasses hold only what loading needs.

    Use `at_once` and not `list`, which asks for the length and the items, and so reads twice.
    """

    __slots__ = ()

    @abstractmethod
    def read(self) -> Sequence[T]:
        """The items."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self.read()[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self.read())

    def __len__(self) -> int:
        return len(self.read())


def at_once(items: Sequence[T]) -> Sequence[T]:
    """The items, read if they are lazy."""
    return items.read() if isinstance(items, LazySequence) else items
