"""`qkva migrate`: bring the plan cache's tables to the newest revision."""

from qkva.cli.console import line
from qkva.settings import load_settings
from qkva.stores.embedded import start_embedded
from qkva.stores.migrate import migrate


def migrate_database() -> int:
    """Migrate the configured database, or the embedded one."""
    settings = load_settings()
    if settings.database_url is not None:
        revision = migrate(settings.database_url.get_secret_value())
        line(f"The database of DATABASE_URL is at revision {revision}.")
        return 0
    server = start_embedded(settings.cache_dir / "postgres")
    try:
        revision = migrate(server.admin_url)
    finally:
        server.close()
    line(f"The embedded database in {settings.cache_dir} is at revision {revision}.")
    return 0
