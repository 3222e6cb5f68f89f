"""Who does it to whom, read from word order, prepositions and the passive; and what the readings may not confuse."""

import pytest

from qkva.planning.decision.guards import first_conflict
from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.question_form import read_question_form
from qkva.planning.reading.question_tokens import read_tokens
from qkva.planning.reading.relations import asker_of, person_of, relation_of


@pytest.mark.parametrize(
    ("question", "relation"),
    [
        ("messages ‹c› sent", "source"),
        ("messages sent by ‹c›", "source"),
        ("messages from ‹c›", "source"),
        ("which patients has ‹c› seen", "source"),
        ("what does ‹c› block", "source"),
        ("messages sent to ‹c›", "target"),
        ("how often was ‹c› written to", "target"),
        ("who manages ‹c›", "target"),
        ("issues blocking ‹c›", "target"),
        ("which issues block ‹c›", "target"),
        ("‹c›'s manager", "owner"),
        ("manager of ‹c›", "owner"),
        ("whom is ‹c› the manager of", "subject"),
        ("courses that need ‹c› as a prerequisite", "subject"),
        ("rivers in ‹c›", ""),
    ],
)
def test_relation_of_a_value(question, relation):
    tokens = read_tokens(question)
    assert [relation_of(tokens, at) for at, token in enumerate(tokens) if token.label] == [relation]


@pytest.mark.parametrize(
    ("question", "asker", "person"),
    [
        ("messages i sent ‹c›", "source", ""),
        ("messages ‹c› sent me", "target", ""),
        ("what have i been sent by ‹c›", "target", ""),
        ("show me the messages of ‹c›", "", ""),
        ("i want to see the messages of ‹c›", "", ""),
        ("who sent ‹f›", "", "source"),
        ("by whom was ‹f› sent", "", "source"),
        ("to whom was ‹f› sent", "", "target"),
        ("who is managed by ‹c›", "", "target"),
        ("who has ‹c› set up goals for", "", "target"),
    ],
)
def test_asker_and_person(question, asker, person):
    tokens = read_tokens(question)
    assert (asker_of(tokens), person_of(tokens)) == (asker, person)


TWINS = [
    ("issues blocking ‹i›", "issues blocked by ‹i›"),
    ("who manages ‹e›", "who is managed by ‹e›"),
    ("messages i sent ‹c›", "messages ‹c› sent me"),
    ("who is ‹e›'s manager", "whom is ‹e› the manager of"),
    ("books currently borrowed by ‹m›", "books ever borrowed by ‹m›"),
    ("patients seen by ‹d›", "patients to be seen by ‹d›"),
    ("threads >= ‹number› messages", "threads < ‹number› messages"),
    ("‹p› issues", "‹p› issues by type"),
    ("islands without a lake", "islands that aren't without a lake"),
    ("‹p› blocks", "‹p› blocked by whom"),
]


@pytest.mark.parametrize(("one", "other"), [*TWINS, *((b, a) for a, b in TWINS)])
def test_twins_contradict(one, other):
    asked, stored = read_question_form(one), read_question_form(other)
    assert first_conflict(asked, stored, QueryForm(), by_intent=False) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("orders placed by ‹c›", "orders that ‹c› placed"),
        ("who wrote ‹b›", "by whom was ‹b› written"),
        ("pages > ‹number›", "pages more than ‹number›"),
        ("nr of books by ‹a›", "number of books by ‹a›"),
    ],
)
def test_rewordings_do_not(one, other):
    asked, stored = read_question_form(one), read_question_form(other)
    assert first_conflict(asked, stored, QueryForm(), by_intent=False) is None
