"""Every error that Equipoise raises on purpose.

EquipoiseError
├── UserError        the user's input cannot work; one line that says what, where and what to do
├── CallFailed       an endpoint gave no usable reply; data for a record, never a crash
├── InvalidVerdict   an evaluator's text is not a verdict of its rubric
└── SessionStopped   the session ended before this case was done

Anything else that escapes is a defect of ours.
"""


class EquipoiseError(Exception):
    """Base of all errors raised on purpose."""


class UserError(EquipoiseError):
    """Bad input; the message is one line and is shown without a traceback."""


class CallFailed(EquipoiseError):  # noqa: N818 - it names an event of the domain, not a defect
    """A call gave no usable reply after everything that could be tried.

    `stops_session` is true where every further call would fail alike: retries exhausted, a key
    that is refused, a model that does not exist. `status` is the HTTP status, None without one.
    """

    def __init__(self, message: str, *, status: int | None = None, stops_session: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.stops_session = stops_session


class InvalidVerdict(EquipoiseError):  # noqa: N818 - as above
    """An evaluator's text that is not a verdict; the message says why."""


class SessionStopped(EquipoiseError):  # noqa: N818 - as above
    """The session is ending; the case in question has no record and can be resumed."""
