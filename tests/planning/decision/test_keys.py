import pytest

from qkva.contracts.errors import KeyTooLong
from qkva.planning.drafting.keys import check_key_length, count_tokens


def test_tokens_are_counted_without_marks():
    assert count_tokens("") == 0
    assert count_tokens("orders of a customer in a time range") == 8


def test_key_of_thirty_tokens_passes():
    check_key_length(" ".join(["order"] * 30))
    with pytest.raises(KeyTooLong, match="has 31 tokens, and 30 are allowed"):
        check_key_length(" ".join(["order"] * 31))
