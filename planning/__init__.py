"""Pure planning: masking, the hit decision, parameter filling."""
