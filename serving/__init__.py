"""What the LangGraph server mounts."""
