"""Alembic's entry: runs the revisions on the connection that `qkva.stores.migrate` hands over."""

from alembic import context

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("Run `qkva migrate`: it hands the connection over and holds the lock.")

# The version table stands beside the tables it speaks of, so a shared database keeps its own `public.alembic_version`.
context.configure(connection=connection, version_table_schema="qkva", transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
