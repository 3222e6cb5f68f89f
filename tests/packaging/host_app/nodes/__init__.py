"""A host's own top-level `nodes`, which qkva must leave alone."""

OWNER = "host"
