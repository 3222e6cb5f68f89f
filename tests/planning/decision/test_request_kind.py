import pytest

from qkva.planning.conversation.request_kind import asks_for_change


@pytest.mark.parametrize(
    "text",
    [
        "delete all orders",
        "please cancel order 17",
        "update the price of Teapot to 5",
        "drop table x",
        "send an email to Ada",
        "Can you delete the customer Ada Lovelace?",
        "Remove SHOP-17 from the sprint",
        "refund order 12",
        "assign SHOP-3 to Ada",
        "could you please mark all tickets as done",
        "I want you to close issue SHOP-4",
        "show all orders and then delete them",
        "DELETE FROM orders",
        "set the status of order 5 to paid",
        "create a new customer",
        "email Ada the invoice",
        "Add a label to SHOP-17",
        "change Ada's country to France",
        "Truncate orders",
        "list all orders, then drop the table orders",
        "rename the product Teapot",
        "ship order 99 today",
        "insert into orders values (1)",
    ],
)
def test_requests_to_write_are_known(text):
    assert asks_for_change(text.strip())


@pytest.mark.parametrize(
    "text",
    """which orders were cancelled|how many updates were there|show deleted users|orders updated since yesterday
    Update history of SHOP-17|refund rate last month|refunds of Ada|shipping cost per country|emails from Ada
    email addresses of customers|Email address of Ada Lovelace|cancelled orders|who deleted SHOP-17?
    what changed last week
    change log of SHOP-17|Which customers should we email?|Can you show me cancelled orders?|Can I cancel order 17?
    refund reasons in March|How do I delete an order?|closed issues|created since yesterday|mail from Bob
    show orders that were removed and refunded|book sales in May|set of products|did anyone delete the order?|Order 17
    ship dates of order 17|open issues that need an update|number of orders and refunds||?""".replace("\n", "|").split(
        "|"
    ),
)
def test_questions_about_changes_are_questions(text):
    assert not asks_for_change(text.strip())
