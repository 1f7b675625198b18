"""Every error that Equipoise raises on purpose.

EquipoiseError
├── UserError        the user's input cannot work; one line that says what, where and what to do
├── CallFailed       an endpoint gave no usable reply; data for a record, never a crash
├── CannotSave       the results cannot be written; the journal has everything
├── InvalidVerdict   an evaluator's text is not a verdict of its rubric
├── NotNeeded        this run is skipped: `--until` was satisfied before it
├── BatchWaiting     this run's calls are in a batch that is not done; the same command fetches them
└── SessionStopped   the session ended before this case was done
    └── CannotKeep   because the journal cannot be written to

Any other exception that escapes is a bug.
"""

import re

MOST_CHARACTERS = 1_000
"""Longer messages lose their middle: the name of the file, at the start, and the advice are kept."""
_LONG_WORD = re.compile(r"\S{200,}")
_COMMAND = re.compile(r"^ *:(?=:)|##(?=\w*\[)")
"""The start of a command to a CI system in a step's output, such as `::error::` (at the start of a line and
after any spaces) and `##[error]` of GitHub Actions, and `##vso[...]` of Azure Pipelines."""


class EquipoiseError(Exception):
    """Base of all errors raised on purpose."""


class UserError(EquipoiseError):
    """Bad input. The message is always one line and is shown without a traceback."""

    def __init__(self, message: str) -> None:
        super().__init__(shortened(printable(message)))


def shortened(message: str) -> str:
    """The message, shortened if it is long, for instance because it quotes a name of a megabyte.

    The middle of each long word is left out, and then, if that is not enough, the middle of the message.
    """
    if len(message) > MOST_CHARACTERS:
        message = _LONG_WORD.sub(lambda word: f"{word[0][:80]}...{word[0][-20:]}", message)
    if len(message) <= MOST_CHARACTERS:
        return message
    return f"{message[: MOST_CHARACTERS // 2]} ... {message[-MOST_CHARACTERS // 3 :]}"


def printable(text: str) -> str:
    """The text as one line that is safe to print to a terminal and in the log of a CI job.

    Control characters (C0 and C1), line breaks and invisible characters such as bidirectional overrides are
    escaped, and so is the start of a command to a CI system. Escaping twice changes nothing.
    """
    if not text.isprintable():
        odd = (character for character in set(text) if not character.isprintable())
        text = text.translate(
            {ord(character): character.encode("unicode_escape").decode() for character in odd}
        )
    return _COMMAND.sub(lambda start: f"{start[0][:-1]}\\x{ord(start[0][-1]):x}", text)


class ContradictoryResultsWarning(UserWarning):
    """The summary of a results file contradicts its runs. The message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class CallFailed(EquipoiseError):  # noqa: N818 - it names an event of the domain, not a defect
    """A call gave no usable reply, after all retries.

    `stops_session` is true if every further call would fail in the same way, for instance because a key is
    refused or a model does not exist. `is_mistake` is true if, in addition, waiting does not help: the user
    must change the URL, key, model or parameter. `status` is the HTTP status, None without a response.
    `retries` counts the attempts after the first. `is_declined` says that the endpoint does not support an
    optional feature: the caller does without it, and nothing is reported.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        stops_session: bool = False,
        is_mistake: bool = False,
        retries: int = 0,
        is_declined: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.stops_session = stops_session
        self.is_mistake = is_mistake
        self.retries = retries
        self.is_declined = is_declined


class CannotSave(EquipoiseError):  # noqa: N818 - as above
    """The results cannot be written; the message says which file, why, and how to recover them."""


class InvalidVerdict(EquipoiseError):  # noqa: N818 - as above
    """An evaluator's text is not a valid verdict; the message says why."""


class NotNeeded(EquipoiseError):  # noqa: N818 - as above
    """A run is skipped because `--until` was satisfied before its round."""


class BatchWaiting(EquipoiseError):  # noqa: N818 - as above
    """A run is skipped because its calls are in a batch that is not done yet; it can be resumed."""


class SessionStopped(EquipoiseError):  # noqa: N818 - as above
    """The session is ending; the case has no record and can be resumed."""


class CannotKeep(SessionStopped):
    """The journal cannot be written to, so no call may follow. The message says which file and why."""
