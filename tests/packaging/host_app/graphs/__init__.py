"""A host's own top-level `graphs`, which qkva must leave alone."""

OWNER = "host"
