"""Whether a question is in English, which is all that the local embedder and the masker read."""

import re

from simplemma.language_detector import in_target_language

ENOUGH_ENGLISH = 0.6
"""Share of known English words below which a question of four or more words is taken for another language. On short
questions about orders, English ones scored 0.86 to 1.0, and French, German, Spanish, Italian, Portuguese and Dutch
ones 0.0 to 0.5."""


def looks_english(text: str) -> bool:
    """True for English and for texts too short to tell; names and codes count for neither side."""
    letters = [character for character in text if character.isalpha()]
    if letters and sum(ord(character) > 0x24F for character in letters) > len(letters) / 2:
        return False
    words = re.findall(r"\b[a-zà-ÿ]+\b", text)  # lower-case words only: a capital may start a name
    if len(words) < 4:
        return True
    return bool(in_target_language(" ".join(words), lang="en") >= ENOUGH_ENGLISH)
