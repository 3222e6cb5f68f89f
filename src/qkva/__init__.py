"""qkva: ask questions of your own data; plan once, run live every time."""
