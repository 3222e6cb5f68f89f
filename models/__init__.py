"""The only files that build model clients."""
