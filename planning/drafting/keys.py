"""The length of a key, counted with the tokeniser of the embedder that ships with qkva."""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

from qkva.contracts.errors import KeyTooLong
from qkva.contracts.plan import MAX_KEY_TOKENS

_TOKENIZER_FILE = "l2_supercat_tokenizer_config.json"


def count_tokens(text: str) -> int:
    """How many tokens a text has, without the marks that a model puts around it."""
    return len(_tokenizer().encode(text, add_special_tokens=False).ids)


def check_key_length(key_text: str) -> None:
    """Raise KeyTooLong for a key of more than MAX_KEY_TOKENS tokens."""
    found = count_tokens(key_text)
    if found > MAX_KEY_TOKENS:
        raise KeyTooLong(
            f"The plan's key has {found} tokens, and {MAX_KEY_TOKENS} are allowed: say its intent in fewer words, "
            "without values."
        )


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    """Read once, from wordllama's folder; the package itself is not imported, for it sets up logging."""
    spec = find_spec("wordllama")
    assert spec is not None and spec.origin is not None
    return Tokenizer.from_file(str(Path(spec.origin).parent / "tokenizers" / _TOKENIZER_FILE))
