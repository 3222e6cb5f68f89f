"""A source's table of qkva.toml, checked once at the start."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from qkva.contracts.errors import ConfigError

Options = TypeVar("Options", bound=BaseModel)


def read_options(form: type[Options], name: str, given: Mapping[str, Any]) -> Options:
    """The options of source `name` as `form`. Raises ConfigError naming the wrong option, never its value."""
    try:
        return form.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        option = ".".join(str(part) for part in first["loc"]) or "options"
        allowed = ", ".join(sorted(form.model_fields))
        reason = _REASONS.get(first["type"], first["msg"])
        raise ConfigError(f'Source "{name}": option "{option}" {reason}; allowed options: {allowed}.') from None


_REASONS = {"missing": "is missing", "extra_forbidden": "is unknown"}
