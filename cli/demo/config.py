"""The demo's qkva.toml: two sources and a fixed clock."""

import os
from pathlib import Path

from qkva.cli.demo.shop import DATABASE, READER
from qkva.cli.demo.shop_data import DEMO_NOW
from qkva.contracts.errors import ConfigError
from qkva.settings import CONFIG_NAME, Settings, load_settings

SHOP, ISSUES = "shop", "issues"
TEXT = f"""\
# Written by `qkva demo`. Add your own sources here; a qkva.toml in the folder you work in wins over this one.

[clock]
# The demo's data ends on this day, so "last month" is May 2026. Take it out when you ask about your own data.
now = {DEMO_NOW.isoformat()}
timezone = "UTC"

[sources.{SHOP}]
type = "sql"
# A database on qkva's embedded PostgreSQL, by a login that may only read it.
url = "embedded://{READER}@/{DATABASE}"

[sources.{ISSUES}]
type = "stub"
"""


def demo_settings() -> Settings:
    """The settings by the demo's own config file, written if it is absent. Raises ConfigError."""
    folder = load_settings().cache_dir
    path = folder / CONFIG_NAME
    if not path.exists():
        write_config(path)
    settings = load_settings(path)
    for name, source_type in ((SHOP, "sql"), (ISSUES, "stub")):
        source = settings.sources.get(name)
        if source is None or source.type != source_type:
            raise ConfigError(
                f'{path} has no source {name!r} of type "{source_type}", which the demo asks: '
                "remove or rename the file, and the demo writes its own."
            )
    return settings


def write_config(path: Path) -> None:
    """Write the file whole or not at all. Raises ConfigError."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(TEXT, "utf-8")
        fresh.replace(path)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}; choose another folder with CACHE_DIR."
        ) from None


def is_default_config(settings: Settings) -> bool:
    """Whether `qkva ask` without more reads the demo's file too; a qkva.toml in the working folder would come first."""
    return load_settings().config_file == settings.config_file
