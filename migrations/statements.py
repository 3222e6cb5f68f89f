"""How a revision sends its SQL."""

from alembic import op


def run(sql: str) -> None:
    """Send SQL as it is written: `op.execute` would read `:x` as a bind, the driver `%` as a placeholder."""
    op.get_bind().exec_driver_sql(sql.replace("%", "%%"))
