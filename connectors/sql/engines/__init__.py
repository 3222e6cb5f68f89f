"""SQLite, DuckDB, MySQL and MariaDB, each opened read-only by its own means and behind the same guard as PostgreSQL."""
