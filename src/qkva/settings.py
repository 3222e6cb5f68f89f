"""Every setting of qkva: from the environment, `.env`, and `qkva.toml` for sources and the clock.

Only this module reads the environment.
"""

import os
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from qkva.contracts.errors import ConfigError

CONFIG_NAME = "qkva.toml"


class SourceConfig(BaseModel):
    """One `[sources.NAME]` table of qkva.toml: its type, and the options of that type."""

    model_config = ConfigDict(frozen=True)

    type: str
    options: dict[str, Any] = Field(default_factory=dict, repr=False)


class Settings(BaseSettings):
    """The environment variables of qkva, with their defaults."""

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True)

    tenant_id: str = Field(
        default="default", min_length=1, description="Tenant of callers whom no server has authenticated."
    )
    database_url: SecretStr | None = Field(
        default=None, description="PostgreSQL with pgvector for the plan cache; unset: an embedded one below CACHE_DIR."
    )
    cache_dir: Path = Field(default=Path(".qkva"), description="Where the embedded database and the demo live.")
    timezone: str = Field(default="UTC", description="Zone of dates in questions, unless the caller names one.")

    litellm_provider_base_url: str | None = Field(
        default=None,
        description="An OpenAI-compatible gateway, such as http://127.0.0.1:4000/v1; unset: no-gateway mode.",
    )
    llm_api_key: SecretStr = Field(default=SecretStr("none"), description="Key for the gateway.")
    llm_model: str = Field(default="gemini-2.5-flash", description="Model that writes answers and fills parameters.")
    router_model: str | None = Field(default=None, description="Model that routes; default: LLM_MODEL.")
    planner_model: str | None = Field(default=None, description="Model that plans; default: LLM_MODEL.")
    llm_temperature: float = Field(default=0.2, ge=0, le=2, description="Temperature of answers.")
    llm_timeout_sec: float = Field(default=60, gt=0, description="Seconds one model call may take.")
    llm_max_retries: int = Field(default=2, ge=0, le=10, description="Retries of a failed model call.")
    llm_max_tokens: int = Field(default=2048, ge=16, description="Tokens one model call may write.")
    max_model_calls: int = Field(default=8, ge=1, description="Model calls one question may cost.")
    embedding_model: str | None = Field(
        default=None,
        description="Embedding model of the gateway, such as gemini-embedding-001; unset: the local wordllama.",
    )
    embedding_dimensions: int = Field(default=1536, ge=8, le=1536, description="Width of the gateway's vectors.")

    plan_cache_ttl_hours: float = Field(default=24, gt=0, description="Hours a learned plan lives.")
    plan_cache_similarity_threshold: float = Field(
        default=0.88,
        ge=0,
        le=1,
        description="Lowest cosine at which a question may meet a key that is not equal to it.",
    )
    plan_cache_top_k: int = Field(default=5, ge=1, le=50, description="Cached plans that are looked at.")
    plan_cache_max_wrong_hits: float = Field(default=0.01, ge=0, le=1, description="Error budget of the cache.")
    review_new_plans: bool = Field(default=False, description="Hold each new plan for a person's approval.")

    sql_query_timeout_sec: float = Field(default=5, gt=0, description="Seconds a live query may take.")
    sql_row_limit: int = Field(default=200, ge=1, le=10_000, description="Rows a live query may return.")
    source_refresh_minutes: float = Field(
        default=15, gt=0, description="Minutes until a source's schema and values are read again."
    )
    strict_sources: bool = Field(
        default=False, description="Refuse a source whose login may do more than read; else only warn."
    )

    fixed_now: datetime | None = Field(
        default=None, description="A fixed clock, for demos and tests; also `[clock] now`."
    )
    config_file: Path | None = Field(default=None, exclude=True, description="Set by load_settings.")
    sources: dict[str, SourceConfig] = Field(default_factory=dict, exclude=True, description="From qkva.toml.")

    @field_validator("timezone")
    @classmethod
    def zone_is_known(cls, value: str) -> str:
        """Only IANA names."""
        if value not in available_timezones():
            raise ValueError(f"{value!r} is no IANA time zone; write one such as Europe/Berlin")
        return value

    @field_validator("fixed_now")
    @classmethod
    def clock_is_aware(cls, value: datetime | None) -> datetime | None:
        """A clock without an offset would mean another moment on each machine."""
        if value is not None and value.tzinfo is None:
            raise ValueError("the clock needs an offset, such as 2026-06-15T12:00:00+00:00")
        return value

    @property
    def gateway_url(self) -> str | None:
        """The gateway's base URL, or None in no-gateway mode."""
        return (self.litellm_provider_base_url or "").strip() or None


class ConfigFile(BaseModel):
    """The shape of qkva.toml."""

    model_config = ConfigDict(extra="forbid")

    class Clock(BaseModel):
        """`[clock]`"""

        model_config = ConfigDict(extra="forbid")

        now: datetime | None = None
        timezone: str | None = None

    clock: Clock = Clock()
    sources: dict[str, dict[str, Any]] = Field(default_factory=dict)


def load_settings(config: Path | None = None, **overrides: Any) -> Settings:
    """Settings from the environment and the config file; keyword arguments win over both.

    The file is `config`, else $QKVA_CONFIG, else ./qkva.toml, else qkva.toml below CACHE_DIR; none is fine.
    Raises ConfigError with one line that names the wrong setting.
    """
    try:
        base = Settings(**overrides)
    except ValidationError as error:
        raise ConfigError(f"Wrong setting: {first_problem(error, upper=True)}.") from None
    path = find_config(config, base.cache_dir)
    if path is None:
        return base
    file = read_config(path)
    found: dict[str, Any] = {"config_file": path, "sources": read_sources(file, path)}
    if file.clock.now and "fixed_now" not in base.model_fields_set:
        found["fixed_now"] = file.clock.now
    if file.clock.timezone and "timezone" not in base.model_fields_set:
        found["timezone"] = file.clock.timezone
    try:
        return Settings(**{**overrides, **found})
    except ValidationError as error:
        raise ConfigError(f"Wrong value in {path}: {first_problem(error)}.") from None


def find_config(given: Path | None, cache_dir: Path) -> Path | None:
    """The config file to read, or None. A named file that is missing is an error."""
    named = given or (Path(os.environ["QKVA_CONFIG"]) if os.environ.get("QKVA_CONFIG") else None)
    if named is not None:
        if not named.is_file():
            raise ConfigError(f"The config file {named} does not exist; write it, or unset QKVA_CONFIG.")
        return named
    for path in (Path(CONFIG_NAME), cache_dir / CONFIG_NAME):
        if path.is_file():
            return path
    return None


def read_config(path: Path) -> ConfigFile:
    """Parse qkva.toml strictly."""
    try:
        return ConfigFile.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path} cannot be read as TOML: {error}.") from None
    except ValidationError as error:
        raise ConfigError(f"Wrong key or value in {path}: {first_problem(error)}.") from None


def read_sources(file: ConfigFile, path: Path) -> dict[str, SourceConfig]:
    """The sources, with `env:NAME` replaced by the variable's value."""
    sources = {}
    for name, table in file.sources.items():
        options = dict(table)
        source_type = options.pop("type", None)
        if not isinstance(source_type, str):
            raise ConfigError(f'{path}: source {name!r} has no type; add a line such as type = "sql".')
        sources[name] = SourceConfig(type=source_type, options=resolve_secrets(options, name, path))
    return sources


def resolve_secrets(options: dict[str, Any], source: str, path: Path) -> dict[str, Any]:
    """Replace each `env:NAME`; a variable that is not set is an error that names it."""
    resolved = {}
    for key, value in options.items():
        if isinstance(value, str) and value.startswith("env:"):
            variable = value.removeprefix("env:")
            if not os.environ.get(variable):
                raise ConfigError(
                    f"{path}: {key} of source {source!r} needs the environment variable {variable}, which is not set."
                )
            value = os.environ[variable]
        resolved[key] = value
    return resolved


def first_problem(error: ValidationError, *, upper: bool = False) -> str:
    """The first thing that pydantic found, as `NAME: what is wrong (got …)`."""
    problem = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        return f"unknown key {name!r}"
    shown = "" if "key" in name or "url" in name else f" (got {problem['input']!r})"
    return f"{name.upper() if upper else name}: {message}{shown}"
