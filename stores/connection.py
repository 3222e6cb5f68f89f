"""What every connection to our own database has in common: URLs and the wording of failures."""

from dataclasses import dataclass

SCHEMES = ("postgresql+psycopg://", "postgresql+asyncpg://", "postgresql+psycopg2://", "postgres://")


@dataclass(frozen=True)
class Login:
    """How to connect."""

    url: str
    role: str | None = None
    """Taken on by each connection, for a login that has no rights by itself."""
    warning: str | None = None
    """What is not as it should be with this login."""


def libpq_url(url: str) -> str:
    """The URL as libpq reads it: SQLAlchemy's spellings of the scheme are taken too."""
    for scheme in SCHEMES:
        if url.startswith(scheme):
            return "postgresql://" + url.removeprefix(scheme)
    return url


def reason(error: BaseException) -> str:
    """The first line of what the driver says, which holds no parameter value and no password."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
