"""Who does it to whom, as far as word order, prepositions and the passive tell.

    "messages ‹contact› sent"   "sent by ‹contact›"   "from ‹contact›"      the contact is a source
    "messages sent to ‹contact›"   "‹contact› was sent"   "who managed ‹contact›"    … a target
    "‹contact›'s messages"   "messages of ‹contact›"                        … an owner: says nothing of either

A shallow reading, made to notice contradictions: what it cannot tell it calls "", which agrees with everything.
"""

from collections.abc import Sequence

from qkva.planning.reading.lexicon import AUXILIARIES, FUNCTION_WORDS, IMPERATIVES, LEADS, MARKS
from qkva.planning.reading.question_tokens import Token

SOURCE, TARGET, OWNER, SUBJECT = "source", "target", "owner", "subject"
"""Where it comes from or who does it; where it goes or whom it is done to; whose it is; what is said to be
something."""

_PREPOSITIONS = {"by": SOURCE, "from": SOURCE, "to": TARGET, "into": TARGET, "onto": TARGET, "of": OWNER, "for": OWNER}
_NEUTRAL = frozenset("in on at with about under over via through against near since before after until".split())
_BE = frozenset("is are was were be been being am get got".split())
_DO = frozenset("did does do has have had will would can could should may might must 've 'd 'll".split())
_ADVERBS = frozenset("ever never already also still just not yet all both only currently now".split())
_REQUESTS = frozenset("show give tell find get let list help send bring fetch name read hand pull display".split())
_ASKERS = frozenset("i me myself".split())


def relation_of(tokens: Sequence[Token], at: int) -> str:
    """What the slot, or the word, at this place is to the verb beside it."""
    before, after = _left(tokens, at), _right(tokens, at)
    if tokens[at].label is not None and after < len(tokens) and tokens[after].word == "'s":
        return OWNER
    neutral = before >= 0 and tokens[before].word in _NEUTRAL
    if after < len(tokens) and tokens[after].word == "as" and not neutral:
        return SUBJECT  # "courses that need ‹course› as a prerequisite": the course is the prerequisite
    if before >= 0 and tokens[before].word in _PREPOSITIONS:
        return _PREPOSITIONS[tokens[before].word]
    if neutral:
        return ""
    verb = _verb_behind(tokens, after)
    helper = tokens[before].word if before >= 0 else ""
    if helper in _BE and after < len(tokens) and tokens[after].word.endswith("ing"):
        return SOURCE
    if helper in _BE:
        return TARGET if _is_participle(tokens, after) else SUBJECT
    if helper in _DO:
        acts = verb or (helper not in ("has", "have", "had", "'ve") and after < len(tokens) and _is_word(tokens[after]))
        return TARGET if _is_passive(tokens, after) else (SOURCE if acts else "")
    if verb and tokens[after].word in _BE:
        return TARGET if _is_passive(tokens, after) else SUBJECT
    if verb:
        return TARGET if _is_passive(tokens, after) else SOURCE
    return TARGET if before >= 0 and _acts(tokens, before) else ""


def asker_of(tokens: Sequence[Token]) -> str:
    """What the asker is in the question: "messages I sent", "messages sent to me"; "" where that is not said."""
    for at, token in enumerate(tokens):
        if token.word not in _ASKERS or _is_polite(tokens, at):
            continue
        relation = relation_of(tokens, at)
        if relation in (SOURCE, TARGET):
            return relation
    return ""


def person_of(tokens: Sequence[Token]) -> str:
    """What "who" or "whom" is: "who sent it" a source, "to whom was it sent" a target."""
    for at, token in enumerate(tokens):
        if token.word not in ("who", "whom"):
            continue
        before = tokens[at - 1].word if at else ""
        if before in _PREPOSITIONS:
            return _PREPOSITIONS[before]
        last = next((t.word for t in reversed(tokens) if t.word[0].isalnum() or t.label), "")
        if last in ("to", "by", "from"):
            return _PREPOSITIONS[last]
        following = _right(tokens, at)
        if following < len(tokens) and tokens[following].word in _BE:
            rest = [t for t in tokens[following + 1 : following + 4]]
            if rest and rest[0].label is not None:
                return ""
            return TARGET if any(_looks_past(t) for t in rest[:2]) else ""
        if following < len(tokens) and tokens[following].word in _DO:
            inner = _right(tokens, following)
            has_subject = inner < len(tokens) and (tokens[inner].label is not None or tokens[inner].word in _ASKERS)
            return TARGET if has_subject else (TARGET if _is_passive(tokens, inner) else SOURCE)
        if following < len(tokens) and (tokens[following].label is not None or tokens[following].word in _ASKERS):
            return TARGET
        return SOURCE if token.word == "who" and following < len(tokens) and _is_verb(tokens[following]) else ""
    return ""


def contradict(one: str, other: str) -> bool:
    """Whether two relations cannot be the same."""
    return {one, other} in ({SOURCE, TARGET}, {SUBJECT, OWNER})


def _is_polite(tokens: Sequence[Token], at: int) -> bool:
    word = tokens[at].word
    before = tokens[at - 1].word if at else ""
    following = tokens[at + 1].word if at + 1 < len(tokens) else ""
    if word == "me":
        return before in _REQUESTS
    return following in ("want", "need", "would", "'d", "like", "see", "am", "'m", "wonder", "was") or (
        before in ("can", "could", "may", "do", "should")
        and following in ("see", "get", "have", "know", "find", "take")
    )


def _left(tokens: Sequence[Token], at: int) -> int:
    """The nearest token in front that is no article, and no noun that only says what the slot is."""
    back = at - 1
    while back >= 0 and tokens[back].word in ("the", "a", "an", "any", "that", "mr", "dr", "prof", "."):
        if tokens[back].word == "that" and tokens[at].label is None:
            break
        back -= 1
    if back >= 1 and tokens[back].label is None and tokens[back - 1].word in _PREPOSITIONS and _is_noun(tokens[back]):
        return back - 1  # "sent by customer ‹name›"
    return back


def _right(tokens: Sequence[Token], at: int) -> int:
    forward = at + 1
    while forward < len(tokens) and tokens[forward].word in _ADVERBS:
        forward += 1
    return forward


def _verb_behind(tokens: Sequence[Token], after: int) -> bool:
    if after >= len(tokens):
        return False
    word = tokens[after].word
    return word in _DO or word in _BE or _is_verb(tokens[after])


def _is_verb(token: Token) -> bool:
    """A word that looks like a verb in a finite form or a participle."""
    if token.label is not None or not token.word.isalpha() or token.word in FUNCTION_WORDS or token.word in MARKS:
        return False
    return _looks_past(token) or (token.word.endswith("s") and token.word != token.lemma)


def _looks_past(token: Token) -> bool:
    if token.label is not None or token.word in FUNCTION_WORDS or token.word in MARKS or not token.word.isalpha():
        return False
    return token.word != token.lemma and not token.word.endswith(("s", "ing", "er", "est"))


def _is_participle(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and _looks_past(tokens[at])


def _is_passive(tokens: Sequence[Token], after: int) -> bool:
    """ "was sent", "has been sent", "will be sent": a form of be before the participle."""
    words = [token.word for token in tokens[after : after + 5]]
    for place, word in enumerate(words):
        if word in _BE:
            rest = tokens[after + place + 1 : after + place + 3]
            return any(_looks_past(token) for token in rest)
        if word not in _DO and word not in _ADVERBS:
            return False
    return False


def _acts(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word in front does something to what follows: "who manages ‹x›", "issues blocking ‹x›"."""
    token = tokens[at]
    if token.label is not None or token.word in IMPERATIVES or token.word in LEADS or token.word in AUXILIARIES:
        return False
    if token.word.endswith("ing") and token.word != token.lemma:
        return True
    if at == 0:
        return False
    before = tokens[at - 1]
    if _is_verb(token):
        return not token.word.endswith("s") or before.word in ("who", "that", "which", "what")
    plural = before.label is None and before.word.endswith("s") and before.word != before.lemma
    asks = any(t.word in ("which", "what", "that") for t in tokens[max(0, at - 4) : at - 1])
    return _is_word(token) and plural and asks  # "which issues block ‹x›"


def stranded_preposition(tokens: Sequence[Token]) -> str:
    """The preposition that a question ends with: "which clubs did he buy players from"; "" for none."""
    last = next((token for token in reversed(tokens) if token.label is not None or token.word[0].isalnum()), None)
    ends = last is not None and last.label is None and (last.word in _PREPOSITIONS or last.word in _NEUTRAL)
    return last.word if ends and last is not None else ""


def _is_word(token: Token) -> bool:
    return token.label is None and token.word.isalpha() and token.word not in FUNCTION_WORDS


def _is_noun(token: Token) -> bool:
    return token.word.isalpha() and token.word not in FUNCTION_WORDS and token.word == token.lemma
