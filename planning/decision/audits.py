"""Audits: a share of would-be hits is planned all the same, and served from the fresh plan.

They are the only labels of what is served, so the only ones that can tell of a wrong hit: they raise the threshold, and
repair what is wrong in the store.
"""

THIN, SOME = 20, 300
"""Audits. 300 without a wrong one bound the wrong hits to 1 % (95 %, one-sided)."""


def audit_share(share: float, audits: int) -> float:
    """Which share of hits is audited after so many audits: the configured one while the evidence is thin, then less."""
    if audits < THIN:
        return share
    return share * 0.4 if audits < SOME else share * 0.1


def is_proven_wrong(same: int, different: int) -> bool:
    """Whether audits show that a key leads to the wrong plan: at least twice, and more often than to the right one."""
    return different >= 2 and different > same
