"""Whether a text asks to change something, which qkva never does."""

import re

_CHANGING = (
    "delete remove drop truncate erase wipe purge update set change modify edit rename insert add create write cancel "
    "refund ship assign reassign close reopen resolve approve reject send forward reply email mail post publish move "
    "archive unarchive mark label merge transfer pay charge book schedule reschedule grant revoke alter replace reset "
    "disable enable unsubscribe subscribe upload deactivate activate increase decrease raise lower transition invite"
).split()
_POLITE = (
    r"(?:(?:hi|hello|hey|ok|okay|now|then|and|so|just|please|kindly|pls)\b[\s,.!]*)*"
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+|kindly\s+|just\s+)*|"
    r"i\s+(?:want|need|would\s+like|'d\s+like)\s+(?:you\s+)?to\s+(?:please\s+)?|i'd\s+like\s+(?:you\s+)?to\s+|"
    r"(?:go\s+ahead\s+and|you\s+(?:must|should)|let'?s)\s+)?(?:please\s+|kindly\s+|just\s+)*"
)
_IMPERATIVE = re.compile(rf"^\s*{_POLITE}(?P<verb>{'|'.join(_CHANGING)})\b(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
_OBJECT = re.compile(
    r"^\s+(?:(?:all|any|every|each|both|the|a|an|this|that|these|those|my|our|their|his|her|its|it|them|him|me|us|new|old|some|"
    r"no|another|table|database|order|orders|customer|customers|user|users|issue|issues|ticket|tickets|email|emails|mail|"
    r"mails|message|messages|record|records|row|rows|index|column|view|schema|everything|from|into|to|up|on)\b|"
    r"[A-Z]+-\d+|#?\d+|[\"'“]|[A-Z][a-z])"
)
_STATEMENT = re.compile(
    r"^\s*(?:drop\s+(?:table|database|schema|view|index|column)|truncate\s+(?:table\s+)?\w+|delete\s+from|insert\s+into|"
    r"update\s+\w+\s+set|alter\s+(?:table|role|database)|create\s+(?:table|view|index|database|role|user)|grant\s+\w+)\b",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(
    r"(?:\band\s+then|\bthen|[,;.]\s*(?:and\s+)?(?:then\s+)?|\band)\s+(?:please\s+)?"
    r"(?P<verb>delete|remove|drop|truncate|erase|wipe|purge|cancel|update|insert)\s+"
    r"(?:all|them|it|the|this|these|those|everything|every|each)\b",
    re.IGNORECASE,
)
_NOUN_AFTER_VERB = re.compile(
    r"^\s*(?:(?:rate|requests?|reasons?|count|dates?|history|log|times?|by|of|per|vs|versus|is|are|was|were|between|in|since|from|to|with|about|"
    r"last|during|for|on|labels?)\b|addresses\b|[?.]?\s*$)",
    re.IGNORECASE,
)
_NOUNS = frozenset(
    "update change refund ship email mail post label transfer charge book schedule set move reply address raise merge "
    "cancel mark close archive add write".split()
)


def asks_for_change(text: str) -> bool:
    """True for a request to write, delete or send; False for a question, also one about changes that were made."""
    if _STATEMENT.match(text) or _AFTERWARDS.search(text):
        return True
    found = _IMPERATIVE.match(text)
    if found is None:
        return False
    rest = found["rest"]
    if found["verb"].lower() in _NOUNS and _NOUN_AFTER_VERB.match(rest):
        return False
    return bool(_OBJECT.match(rest)) or found["verb"].lower() not in _NOUNS and bool(re.match(r"^\s+\w", rest))
