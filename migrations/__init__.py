"""The history of qkva's own database, run by Alembic; `qkva.stores.migrate` starts it.

To change the database add `versions/NNNN_<what>.py`, with its number as `revision` and the one before as
`down_revision`. Its SQL is written out, its docstring begins with the reason, and it is never edited after a release.
There are no downgrades: an older program runs on a newer database until all are upgraded.
"""
