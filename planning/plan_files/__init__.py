"""Verified plans as YAML files."""
