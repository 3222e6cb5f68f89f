"""What every connection to our own database has in common: URLs and the wording of failures."""

SCHEMES = ("postgresql+psycopg://", "postgresql+asyncpg://", "postgresql+psycopg2://", "postgres://")


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
