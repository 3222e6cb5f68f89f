"""Every error of qkva, as a tree; the docstring is the default message.

    QkvaError
    ├── InvalidQuestion        the question cannot be used as it is
    ├── RequestRefused         qkva only reads, and was asked for something else
    ├── NotAuthenticated       nobody knows who calls
    ├── TooManyCalls           the caller's rate limit is reached
    ├── ConfigError            settings or qkva.toml are wrong
    │   └── UnknownSource
    ├── PlanRejected           a plan that may not run or may not be stored
    │   ├── KeyTooLong
    │   └── TooCostly          the source expects too much work
    ├── ParameterError         a value does not fit its parameter
    │   └── MissingParameter
    ├── SourceError
    │   ├── SourceUnavailable  transient
    │   ├── QueryFailed        the source answered that the query is wrong
    │   ├── AuthError
    │   └── CursorExpired
    ├── StoreUnavailable       transient: our own database
    ├── ModelError
    │   ├── ModelUnavailable   transient
    │   ├── ModelOutputInvalid
    │   └── BudgetSpent
    └── AnswerRejected         an answer that may not be shown

A message is one sentence for a person: what failed, what was expected, what to do.
"""


class QkvaError(Exception):
    """qkva failed."""

    transient = False
    """Whether the same call may succeed a moment later."""

    def __init__(self, message: str | None = None, *, layer: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.layer = layer
        """Which of a source's guards refused the query, if one did."""

    @property
    def message(self) -> str:
        """The one sentence a person reads."""
        return str(self.args[0])


class InvalidQuestion(QkvaError):
    """The question cannot be read: ask one question in plain words."""


class RequestRefused(QkvaError):
    """qkva only reads: it answers questions and changes nothing."""


class NotAuthenticated(QkvaError):
    """The API key or bearer token is unknown, expired or revoked."""


class TooManyCalls(QkvaError):
    """The rate limit of this caller is reached."""

    transient = True

    def __init__(self, per_minute: int) -> None:
        super().__init__(f"More than {per_minute} calls a minute: wait a moment, or have the limit raised.")
        self.retry_after_sec = -(-60 // per_minute)


class ConfigError(QkvaError):
    """The configuration is wrong."""


class UnknownSource(ConfigError):
    """No such source is configured."""


class PlanRejected(QkvaError):
    """The plan may not be used."""


class KeyTooLong(PlanRejected):
    """The plan's key has too many tokens."""


class TooCostly(PlanRejected):
    """The query would be too much work for the source."""

    def __init__(self, message: str | None = None, *, cost: float = 0.0, rows: float = 0.0) -> None:
        super().__init__(message, layer="cost")
        self.cost = cost
        """As the source expects it, in its own units."""
        self.rows = rows
        """That the busiest step is expected to pass on."""


class ParameterError(QkvaError):
    """A value does not fit its parameter."""

    def __init__(self, message: str | None = None, *, parameter: str = "") -> None:
        super().__init__(message)
        self.parameter = parameter


class MissingParameter(ParameterError):
    """A required value was not said."""


class SourceError(QkvaError):
    """The data source failed."""


class SourceUnavailable(SourceError):
    """The data source is unavailable: try again when it is back."""

    transient = True


class QueryFailed(SourceError):
    """The data source did not accept the query."""


class AuthError(SourceError):
    """The data source refused the login: connect it again."""


class CursorExpired(SourceError):
    """The sync cursor has expired: a full sync is needed."""


class StoreUnavailable(QkvaError):
    """qkva's own database is unavailable."""

    transient = True


class ModelError(QkvaError):
    """The model failed."""


class ModelUnavailable(ModelError):
    """The model gateway is unavailable."""

    transient = True


class ModelOutputInvalid(ModelError):
    """The model's output does not have the asked form."""


class BudgetSpent(ModelError):
    """This question has used up its model calls."""


class AnswerRejected(QkvaError):
    """The answer was withheld because it cites nothing that was retrieved."""
