"""The raw material of the demo shop: countries, names, products. Lists only."""

from typing import NamedTuple


class Country(NamedTuple):
    """Where customers live, how often, and what they are called there."""

    weight: int
    cities: tuple[str, ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]


FAMOUS = (
    ("Ada Lovelace", "United Kingdom", "London"),
    ("Grace Hopper", "United States", "New York"),
    ("Alan Turing", "United Kingdom", "Manchester"),
    ("Konrad Zuse", "Germany", "Berlin"),
    ("Hedy Lamarr", "Austria", "Vienna"),
    ("Katherine Johnson", "United States", "Chicago"),
    ("Edsger Dijkstra", "Netherlands", "Rotterdam"),
    ("Barbara Liskov", "United States", "Boston"),
    ("Tim Berners-Lee", "United Kingdom", "Oxford"),
    ("Radia Perlman", "United States", "Boston"),
    ("Emmy Noether", "Germany", "Munich"),
    ("Blaise Pascal", "France", "Lyon"),
    ("Marian Rejewski", "Poland", "Warsaw"),
    ("Sophie Germain", "France", "Paris"),
)
"""Customers that the questions of the README ask about; they buy more often than others."""

COUNTRIES = {
    "Germany": Country(
        18,
        ("Berlin", "Hamburg", "Munich", "Cologne", "Leipzig"),
        ("Anna", "Jürgen", "Lena", "Matthias", "Sabine", "Stefan", "Katrin", "Florian"),
        ("Müller", "Schneider", "Hoffmann", "Krüger", "Vogel", "Brandt", "Seidel", "Lehmann"),
    ),
    "France": Country(
        14,
        ("Paris", "Lyon", "Marseille", "Nantes"),
        ("Camille", "Julien", "Élodie", "Mathieu", "Manon", "Antoine", "Chloé", "Thibault"),
        ("Dubois", "Lefèvre", "Moreau", "Girard", "Fontaine", "Mercier", "Rousseau", "Chevalier"),
    ),
    "United Kingdom": Country(
        14,
        ("London", "Manchester", "Bristol", "Edinburgh", "Oxford"),
        ("Oliver", "Charlotte", "Harry", "Imogen", "Callum", "Eleanor", "Rhys", "Fiona"),
        ("Ashworth", "Bennett", "Fletcher", "Hughes", "Mackenzie", "Pritchard", "Thornton", "Whitfield"),
    ),
    "United States": Country(
        12,
        ("New York", "Chicago", "Boston", "Seattle", "Austin"),
        ("Emily", "Tyler", "Madison", "Brandon", "Nicole", "Marcus", "Danielle", "Derek"),
        ("Anderson", "Caldwell", "Henderson", "Jimenez", "Sullivan", "Washington", "Reyes", "Patterson"),
    ),
    "Spain": Country(
        9,
        ("Madrid", "Barcelona", "Valencia", "Seville"),
        ("Lucía", "Álvaro", "Carmen", "Javier", "Marta", "Sergio", "Nuria", "Rubén"),
        ("García", "Navarro", "Ortega", "Serrano", "Castillo", "Molina", "Iglesias", "Vidal"),
    ),
    "Italy": Country(
        8,
        ("Rome", "Milan", "Turin", "Bologna"),
        ("Giulia", "Lorenzo", "Chiara", "Matteo", "Francesca", "Davide", "Elisa", "Simone"),
        ("Rossi", "Bianchi", "Conti", "Ferrara", "Gallo", "Marchetti", "Ricci", "Santoro"),
    ),
    "Netherlands": Country(
        7,
        ("Amsterdam", "Rotterdam", "Utrecht", "Eindhoven"),
        ("Sanne", "Daan", "Femke", "Jeroen", "Lotte", "Bram", "Marieke", "Wouter"),
        ("de Vries", "Jansen", "van Dijk", "Bakker", "Visser", "Mulder", "Kuipers", "Hendriks"),
    ),
    "Poland": Country(
        6,
        ("Warsaw", "Krakow", "Gdansk", "Wroclaw"),
        ("Agnieszka", "Łukasz", "Magdalena", "Piotr", "Zofia", "Tomasz", "Ewelina", "Wojciech"),
        ("Kowalski", "Nowak", "Wójcik", "Mazur", "Krawczyk", "Zieliński", "Dudek", "Pawlak"),
    ),
    "Sweden": Country(
        4,
        ("Stockholm", "Gothenburg", "Malmo"),
        ("Astrid", "Björn", "Elin", "Henrik", "Linnea", "Magnus"),
        ("Lindqvist", "Bergström", "Eklund", "Sandberg", "Nyström", "Hedlund"),
    ),
    "Austria": Country(
        3,
        ("Vienna", "Graz", "Salzburg"),
        ("Theresa", "Lukas", "Magda", "Valentin", "Johanna"),
        ("Gruber", "Steiner", "Moser", "Hofer", "Leitner"),
    ),
    "Japan": Country(
        3,
        ("Tokyo", "Osaka", "Kyoto"),
        ("Haruka", "Kenji", "Yuki", "Takumi", "Aiko"),
        ("Tanaka", "Watanabe", "Nakamura", "Kobayashi", "Fujimoto"),
    ),
    "Brazil": Country(
        2,
        ("Recife", "Curitiba", "Salvador"),
        ("Beatriz", "Thiago", "Larissa", "Rafael"),
        ("Oliveira", "Carvalho", "Barbosa", "Teixeira"),
    ),
}

PRODUCTS = {
    "Kitchen": (
        ("Cast Iron Skillet", "44.90"),
        ("Chef Knife", "69.00"),
        ("Ceramic Teapot", "32.50"),
        ("Espresso Maker", "39.90"),
        ("Bread Basket", "18.90"),
        ("Glass Storage Set", "27.40"),
        ("Pepper Mill", "21.50"),
        ("Oak Cutting Board", "36.00"),
        ("Copper Saucepan", "89.00"),
    ),
    "Books": (
        ("Atlas of Rivers", "38.00"),
        ("Beginner's Guide to Chess", "16.90"),
        ("Field Guide to Mushrooms", "22.00"),
        ("History of Computing", "29.90"),
        ("Italian Home Cooking", "26.50"),
        ("Letters from the Alps", "14.90"),
        ("Night Sky Handbook", "19.90"),
        ("Pocket Poetry Collection", "11.90"),
    ),
    "Electronics": (
        ("Bluetooth Speaker", "59.90"),
        ("Desk Lamp", "34.90"),
        ("Mechanical Keyboard", "119.00"),
        ("Noise Cancelling Headphones", "189.00"),
        ("Portable Charger", "29.90"),
        ("Smart Thermostat", "149.00"),
        ("USB Microphone", "79.00"),
        ("Weather Station", "64.50"),
        ("Wireless Mouse", "27.90"),
    ),
    "Garden": (
        ("Bird Feeder", "24.90"),
        ("Copper Watering Can", "42.00"),
        ("Garden Hose", "33.50"),
        ("Herb Planter", "28.00"),
        ("Pruning Shears", "31.90"),
        ("Raised Bed Kit", "99.00"),
        ("Solar Lantern", "17.50"),
        ("Wooden Rake", "23.90"),
    ),
    "Outdoor": (
        ("Camping Stove", "54.90"),
        ("Dry Bag", "19.50"),
        ("Folding Chair", "37.90"),
        ("Hiking Backpack", "129.00"),
        ("Insulated Bottle", "25.90"),
        ("Sleeping Mat", "49.00"),
        ("Trekking Poles", "58.00"),
        ("Two Person Tent", "219.00"),
    ),
    "Toys": (
        ("Building Blocks", "34.50"),
        ("Jigsaw Puzzle", "15.90"),
        ("Kite", "21.90"),
        ("Marble Run", "45.00"),
        ("Plush Fox", "18.50"),
        ("Train Set", "74.90"),
        ("Wooden Abacus", "16.50"),
        ("Yo-yo", "7.90"),
    ),
}
"""Name and price in euros, by category: 50 in all."""

REFUND_REASONS = (("damaged", 5), ("wrong item", 3), ("late delivery", 3), ("changed mind", 4), ("defective", 4))
"""Each with how often it is given."""
