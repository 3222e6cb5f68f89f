"""Alembic migrations of our own database."""
