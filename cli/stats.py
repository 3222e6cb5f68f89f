"""`qkva stats`: what the cache is worth, from the audit log."""

from qkva.cli.console import line, print_json
from qkva.cli.key_commands import tenant_of
from qkva.cli.own_database import with_database
from qkva.cli.show import columns
from qkva.contracts.errors import ConfigError
from qkva.graphs.stats import Stats, stats_from
from qkva.settings import load_settings
from qkva.stores.ask_log import PostgresAskLog


def show_stats(days: float, source: str | None, tenant: str | None, *, as_json: bool) -> int:
    """Print the figures of one tenant."""
    settings = load_settings()
    if not settings.audit_log:
        raise ConfigError("AUDIT_LOG is off, so nothing is kept that could be counted.")
    tenant_id = tenant_of(tenant, settings)
    figures = with_database(
        settings,
        lambda database: PostgresAskLog(database, retention_days=settings.audit_retention_days).figures(
            tenant_id, days=days, source=source
        ),
    )
    stats = stats_from(figures, settings.prices)
    if as_json:
        print_json(stats.model_dump(mode="json"))
        return 0
    if not stats.questions:
        line(f"Nothing was asked for the tenant {tenant_id} since {stats.since:%Y-%m-%d %H:%M} UTC.")
        return 0
    of_source = f", source {source}" if source else ""
    line(f"Tenant {tenant_id}{of_source}, since {stats.since:%Y-%m-%d %H:%M} UTC")
    for rows in tables(stats):
        line()
        for row in columns(rows):
            line(row)
    return 0


def tables(stats: Stats) -> list[list[list[str]]]:
    """The figures as tables; those that would be empty are left out."""
    saved = stats.saved
    overview = [
        ["figure", "value"],
        ["questions", str(stats.questions)],
        *(["  " + name.replace("_", " "), str(count)] for name, count in stats.statuses.items()),
        ["hit rate", "-" if stats.hit_rate is None else f"{stats.hit_rate:.1%}"],
        *(["  " + name.replace("_", " "), str(count)] for name, count in stats.cache.items()),
        ["model calls saved", number(saved.model_calls)],
        ["tokens saved", number(saved.tokens)],
        ["money saved", number(saved.money, "set [prices] in qkva.toml")],
        ["wrong hits found", f"{stats.wrong_hits.wrong} of {stats.wrong_hits.wrong + stats.wrong_hits.right} judged"],
    ]
    found = [overview]
    if stats.sources:
        head = ["slowest sources", "queries", "median ms", "95 % ms", "unavailable"]
        found.append(
            [head]
            + [
                [s.source, str(s.queries), f"{s.median_ms:.1f}", f"{s.p95_ms:.1f}", str(s.unavailable)]
                for s in stats.sources
            ]
        )
    if stats.models:
        head = ["model", "input tokens", "cached", "output", "money"]
        found.append(
            [head] + [[m.model, str(m.input), str(m.cached), str(m.output), number(m.money)] for m in stats.models]
        )
    if stats.labels:
        head = ["labels of source", "from", "verdict", "number"]
        found.append([head] + [[each.source, each.origin, each.verdict, str(each.labels)] for each in stats.labels])
    return found


def number(value: float | None, otherwise: str = "not known yet") -> str:
    """A figure without needless digits."""
    return otherwise if value is None else f"{value:,.4f}".rstrip("0").rstrip(".")
