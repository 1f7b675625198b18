"""The fake model under the name of what a suite asks it through."""

from __future__ import annotations

from fakes import FakeModel

from equipoise.core.types import Call


class FakeAsk(FakeModel):
    """Its `calls` are the model's history."""

    @property
    def calls(self) -> list[Call]:
        """Every call in order."""
        return self.history
