"""The static word vectors that come in a wheel: for embedding a question, and for telling how alike two words are."""

import logging
from functools import cache
from pathlib import Path
from typing import Any


@cache
def load_wordllama() -> Any:
    """The model from its wheel's own folder; it would otherwise look for its tokenizer on the network.

    Its import calls logging.basicConfig, which does nothing while the root logger has a handler.
    """
    guard = logging.NullHandler()
    logging.root.addHandler(guard)
    try:
        import wordllama  # noqa: PLC0415
    finally:
        logging.root.removeHandler(guard)
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
