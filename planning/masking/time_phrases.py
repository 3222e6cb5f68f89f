"""Time phrases by the caller's clock and zone; see planning.time for how each is read."""

from qkva.planning.masking.time.phrases import find_time_phrases, resolve_time_phrase

__all__ = ["find_time_phrases", "resolve_time_phrase"]
