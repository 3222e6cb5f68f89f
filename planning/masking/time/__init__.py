"""Dates and times as they are said, by the caller's clock and zone."""
