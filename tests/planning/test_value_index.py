"""Finding a source's values: what is meant as a value, and what only looks like one."""

import pytest

from qkva.contracts.source import ColumnValues, Field, SourceDescription, Table
from qkva.planning.masking.value_index import ValueIndex


def text_field(name, references=None):
    return Field(name=name, type="text", kind="text", references=references)


def shop(**changed):
    values = {
        "customers.name": ("Ada Lovelace", "Grace Hopper", "Alan Turing", "Alan Kay", "May Smith", "Zoë Müller"),
        "customers.country": ("Germany", "France", "Turkey", "United States"),
        "orders.status": ("open", "new", "PAID", "in_transit", "refunded", "shipped"),
        "orders.ship_country": ("Germany", "France", "Spain", "United States"),
        "products.name": ("iPhone 15", "Barnes & Noble Reader", "Order", "Red Chair", "R"),
        "products.category": ("laptop", "Keyboards"),
        "tickets.id": ("IT", "B-", "C"),
    } | changed
    return SourceDescription(
        name="shop",
        source_type="sql",
        dialect="postgres",
        fingerprint="f",
        tables=(
            Table(name="customers", fields=(text_field("name"), text_field("country"))),
            Table(
                name="orders",
                fields=(
                    text_field("status"),
                    text_field("customer_id", "customers.id"),
                    text_field("total"),
                    text_field("ship_country"),
                ),
            ),
            Table(name="products", fields=(text_field("name"), text_field("category"), text_field("price"))),
            Table(name="tickets", fields=(text_field("id"), text_field("team"))),
        ),
        values=tuple(ColumnValues(column=column, values=held) for column, held in values.items()),
    )


INDEX = ValueIndex.build(shop())


def found(text, index=INDEX):
    return [(slot.text, slot.value, slot.label) for slot in index.find(text)]


@pytest.mark.parametrize(
    ("text", "said", "value", "label"),
    [
        ("orders of Ada Lovelace", "Ada Lovelace", "Ada Lovelace", "customers.name"),
        ("orders of ada lovelace", "ada lovelace", "Ada Lovelace", "customers.name"),
        ("Ada Lovelace's orders", "Ada Lovelace", "Ada Lovelace", "customers.name"),
        ("Ada Lovelase orders", "Ada Lovelase", "Ada Lovelace", "customers.name"),
        ("orders of zoe muller", "zoe muller", "Zoë Müller", "customers.name"),
        ("Ada's orders", "Ada", "Ada Lovelace", "customers.name"),
        ("what was bought by Grace since", "Grace", "Grace Hopper", "customers.name"),
        ("what did Lovelace buy", "Lovelace", "Ada Lovelace", "customers.name"),
        ("Grace's orders", "Grace", "Grace Hopper", "customers.name"),
        ("how many paid orders are there", "paid", "PAID", "orders.status"),
        ("which orders are still open", "open", "open", "orders.status"),
        ("orders with status new", "new", "new", "orders.status"),
        ("orders in transit", "in transit", "in_transit", "orders.status"),
        ("orders that are in-transit", "in-transit", "in_transit", "orders.status"),
        ("which orders were refunded", "refunded", "refunded", "orders.status"),
        ("customers in turkey", "turkey", "Turkey", "country/ship_country"),
        ("orders shipped to Spain", "Spain", "Spain", "country/ship_country"),
        ("how many laptops did we sell", "laptops", "laptop", "products.category"),
        ("keyboard sales", "keyboard", "Keyboards", "products.category"),
        ("sales of the iphone 15", "iphone 15", "iPhone 15", "products.name"),
        ("barnes and noble reader", "barnes and noble reader", "Barnes & Noble Reader", "products.name"),
        ("who works in IT", "IT", "IT", "tickets.id"),
    ],
)
def test_value_is_found(text, said, value, label):
    assert found(text) == [(said, value, label)]


@pytest.mark.parametrize(
    "text",
    [
        "what is the new total",
        "open a complaint",
        "new customers",
        "orders from new customers",
        "orders and new customers",
        "orders shipped by sea",
        "orders paid with a card",
        "Ada Byron's orders",
        "Alan's orders",
        "a letter of Grace Kelly",
        "with grace",
        "will she be fine, may I ask",
        "the order of the day",
        "how many chairs are there",
        "is it right",
        "list r and c",
        "a lovely lace",
        "the ordr of the franc",
    ],
)
def test_ordinary_words_are_no_values(text):
    assert found(text) == []


def test_longest_value_wins():
    index = ValueIndex.build(shop(**{"products.name": ("Coffee", "Coffee Maker", "Coffee Maker Deluxe")}))
    assert [slot.value for slot in index.find("two coffee makers and a coffee maker deluxe")] == [
        "Coffee Maker",
        "Coffee Maker Deluxe",
    ]


def test_several_columns_stay_candidates():
    (slot,) = INDEX.find("customers from Germany")
    assert slot.columns == ("customers.country", "orders.ship_country")


def test_shared_name_labels_by_column():
    index = ValueIndex.build(shop(**{"orders.country": ("Germany", "France", "Peru")}, **{"orders.ship_country": ()}))
    assert [(slot.label, slot.columns) for slot in index.find("Peru and Germany")] == [
        ("country", ("orders.country",)),
        ("country", ("customers.country", "orders.country")),
    ]


def test_incomplete_list_knows_no_first_names():
    description = shop()
    cut = tuple(values.model_copy(update={"complete": False}) for values in description.values)
    index = ValueIndex.build(description.model_copy(update={"values": cut}))
    assert index.find("Ada's orders") == []
    assert [slot.value for slot in index.find("Ada Lovelace's orders")] == ["Ada Lovelace"]


def test_letter_needs_its_column():
    index = ValueIndex.build(shop(**{"tickets.grade": ("A", "B", "B-", "C")}))
    assert index.find("is a ticket a problem") == []
    assert [slot.value for slot in index.find("tickets with grade C or a grade of B-")] == ["C", "B-"]


def test_known_and_new_ids_mask_alike():
    index = ValueIndex.build(shop(**{"tickets.key": tuple(f"SHOP-{number}" for number in range(1, 30))}))
    (slot,) = index.find("what is SHOP-17 about")
    assert (slot.label, slot.value, slot.columns) == ("id", "SHOP-17", ("tickets.key",))


def test_stored_spelling_of_column():
    assert INDEX.canonical("orders.status", "in transit") == "in_transit"
    assert INDEX.canonical("orders.status", "Paid") == "PAID"
    assert INDEX.canonical("orders.status", "Germany") is None


def test_columns_of_exact_value():
    assert INDEX.columns_of("germany") == ("customers.country", "orders.ship_country")
    assert INDEX.columns_of("Atlantis") == ()


def test_empty_source_finds_nothing():
    index = ValueIndex.build(shop().model_copy(update={"values": (), "tables": ()}))
    assert (len(index), index.find("paid orders of Ada Lovelace")) == (0, [])
