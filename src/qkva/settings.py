"""Every setting of qkva: from the environment, `.env`, and `qkva.toml` for sources and the clock.

Only this module reads the environment.
"""

import os
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from zoneinfo import available_timezones

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from qkva.contracts.errors import ConfigError
from qkva.contracts.identity import check_tenant

CONFIG_NAME = "qkva.toml"


class SourceConfig(BaseModel):
    """One `[sources.NAME]` table of qkva.toml: its type, and the options of that type."""

    model_config = ConfigDict(frozen=True)

    type: str
    options: dict[str, Any] = Field(default_factory=dict, repr=False)


class ModelPrice(BaseModel):
    """One `[prices."MODEL"]` table of qkva.toml: what a million tokens cost, in any currency."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Input that the provider had cached; None: as other input."""


class Settings(BaseSettings):
    """The environment variables of qkva, with their defaults."""

    model_config = SettingsConfigDict(env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True)

    tenant_id: str = Field(
        default="default", min_length=1, description="Tenant of callers whom no server has authenticated."
    )
    database_url: SecretStr | None = Field(
        default=None, description="PostgreSQL with pgvector for the plan cache; unset: an embedded one below CACHE_DIR."
    )
    database_app_url: SecretStr | None = Field(
        default=None,
        description="Login for questions, only a member of qkva_rw; unset: DATABASE_URL's owner makes one.",
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
    judge_model: str | None = Field(
        default=None, description="Model that judges whether a cached plan means a question; default: ROUTER_MODEL."
    )
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
    plan_cache_audit_share: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Share of would-be hits that are planned all the same, to check them, while the evidence is thin.",
    )
    plan_cache_judge: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Whether a model is asked where the cache alone cannot tell; auto: if there is a gateway.",
    )
    plan_cache_max_exemplars: int = Field(
        default=64, ge=1, description="Masked questions kept of a plan; of more, those that resemble others go."
    )
    plan_cache_mirror_mb: int = Field(
        default=256,
        ge=0,
        description="Megabytes of each process for the keys of recently asking tenants; 0: look up in the database.",
    )
    review_new_plans: bool = Field(default=False, description="Hold each new plan for a person's approval.")

    sql_query_timeout_sec: float = Field(default=5, gt=0, description="Seconds a live query may take.")
    sql_row_limit: int = Field(default=200, ge=1, le=10_000, description="Rows a live query may return.")
    source_refresh_minutes: float = Field(
        default=15, gt=0, description="Minutes until a source's schema and values are read again."
    )
    strict_sources: bool = Field(
        default=False, description="Refuse a source whose login may do more than read; else only warn."
    )

    server_auth: Literal["auto", "keys", "off"] = Field(
        default="auto",
        description="Whom the server serves: keys (callers with an API key or bearer token), off (this machine "
        "alone, as TENANT_ID), or auto (this machine until a first key or JWT_* is there, then keys).",
    )
    rate_limit_per_minute: int = Field(
        default=300, ge=0, description="Calls a minute that one API key or user may make of the server; 0: no limit."
    )
    share_within_tenant: bool = Field(
        default=False, description="Let all users of a tenant see each other's threads, runs, crons and stored items."
    )
    jwt_key: SecretStr | None = Field(
        default=None, description="Secret of 32 or more characters (HS256), or public key in PEM, of bearer tokens."
    )
    jwt_jwks_url: str | None = Field(
        default=None, description="Where the issuer publishes its keys, in place of JWT_KEY."
    )
    jwt_issuer: str | None = Field(default=None, description="Issuer that a bearer token must name.")
    jwt_audience: str | None = Field(default=None, description="Audience that a bearer token must name.")
    jwt_tenant_claim: str = Field(default="tenant", description="Claim of a bearer token that holds the tenant.")
    jwt_user_claim: str = Field(default="sub", description="Claim of a bearer token that holds the user.")

    audit_log: bool = Field(default=True, description="Keep one line of each question: who, decision, plan, cost.")
    audit_text: bool = Field(default=False, description="Keep the question's text and values in that line too.")
    audit_retention_days: float = Field(
        default=90, gt=0, le=36_500, description="Days such a line is kept, counted when it is written."
    )

    fixed_now: datetime | None = Field(
        default=None, description="A fixed clock, for demos and tests; also `[clock] now`."
    )
    config_file: Path | None = Field(default=None, exclude=True, description="Set by load_settings.")
    sources: dict[str, SourceConfig] = Field(default_factory=dict, exclude=True, description="From qkva.toml.")

    prices: dict[str, ModelPrice] = Field(default_factory=dict, exclude=True, description="From qkva.toml.")

    @field_validator("tenant_id")
    @classmethod
    def tenant_has_a_name(cls, value: str) -> str:
        """A tenant that can stand in an identity."""
        try:
            return check_tenant(value)
        except ConfigError as error:
            raise ValueError(error.message.rstrip(".")) from None

    @field_validator("timezone")
    @classmethod
    def zone_is_known(cls, value: str) -> str:
        """Only IANA names."""
        if value not in available_timezones():
            raise ValueError(f"{value!r} is no IANA time zone; write one such as Europe/Berlin")
        return value

    @field_validator("plan_cache_judge")
    @classmethod
    def judge_has_a_model(cls, value: str, others: ValidationInfo) -> str:
        """A judge is a model of the gateway."""
        if value == "on" and not (others.data.get("litellm_provider_base_url") or "").strip():
            raise ValueError("a judge needs a model: set LITELLM_PROVIDER_BASE_URL, or leave it at auto")
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
    prices: dict[str, ModelPrice] = Field(default_factory=dict)


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
    found: dict[str, Any] = {"config_file": path, "sources": read_sources(file, path), "prices": file.prices}
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
