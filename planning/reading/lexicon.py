"""Word classes of English questions that name no domain. Only data: how they are used stands in `question_form`."""

FUNCTION_WORDS = frozenset(
    """a an the is are was were be been being am do does did doing please show me give tell list find get display return
    provide i we us he she it they them i'm i'd i'll i've what which that those these this there their his her its
    our your you 's s would like want need wish wanna gonna could can will shall should may might must let lets let's
    know see look looking search pull fetch retrieve report enumerate go going to and so as such then any some all info
    information details detail kind type sort possible available exist existing exists has have had having in on at
    with by for from into of who whom whose when where why how if whether ok okay hi hello hey thanks thank one ones
    'd 'm 're 've 'll my mine myself than about regarding concerning contain contains during via through per each every
    both either or only just also too same currently ever already yet actually exactly
    much many more there's what's who's where's here help kindly quickly every altogether overall system database
    entries records record rows""".split()
)
"""Dropped from the content of a question; several of them leave a mark instead."""

FORMS = {
    "biggest": "large", "largest": "large", "greatest": "large", "bigger": "large", "larger": "large", "big": "large",
    "taught": "teach", "fewest": "few", "fewer": "few", "people": "person", "men": "man", "women": "woman",
    "e-mail": "email", "e-mails": "email", "emails": "email", "mails": "mail",
    "canceled": "cancel", "cancelled": "cancel", "cancellation": "cancel", "priciest": "expensive",
    "dearest": "expensive", "costliest": "expensive", "costs": "cost", "spent": "spend", "spending": "spend",
    "prof": "professor", "profs": "professor", "dr": "professor", "oldest": "old", "eldest": "old", "newest": "new",
    "data": "data", "paid": "pay", "bought": "buy", "sold": "sell", "sales": "sale", "best": "best", "better": "better",
    "worst": "worst", "worse": "worse", "left": "left", "does": "do", "did": "do", "having": "have", "n't": "not",
    "customers": "customer", "status": "status", "statuses": "status", "address": "address", "addresses": "address",
    "qty": "quantity", "purchases": "purchase", "items": "item", "tickets": "ticket", "issues": "issue",
}  # fmt: skip
"""Lemmas that the lemmatiser misses or that are one word in two spellings."""

_MARK_WORDS = {
    "max": "most highest largest biggest longest greatest maximum max tallest best top hardest deepest widest heaviest "
    "strongest richest busiest priciest costliest dearest",
    "min": "least lowest smallest shortest fewest minimum min easiest worst bottom shallowest narrowest lightest "
    "weakest sparsest cheapest",
    "latest": "latest newest last recent recently youngest",
    "earliest": "earliest oldest eldest first soonest",
    "gt": "over above exceed exceeds exceeding exceeded beyond more greater bigger larger higher longer taller",
    "lt": "below under less fewer smaller lower shorter within",
    "after": "after later",
    "since": "since",
    "before": "before earlier prior",
    "until": "until till",
    "between": "between",
    "not": "not no n't without except besides excluding exclude excludes never nor none isn't doesn't aren't don't "
    "can't won't hasn't haven't didn't wasn't weren't neither excluded outside lacking lack lacks cannot "
    "couldn't wouldn't hadn't shouldn't unless non",
    "other": "other another else different",
    "sum": "total combined sum altogether totals totalled",
    "average": "average mean averaged avg median",
    "each": "each every per",
    "both": "both",
    "either": "or either",
    "only": "only solely exclusively alone",
    "good": "good great nice decent popular",
    "hard": "hard harder difficult tough",
    "easy": "easy easier simple",
    "distinct": "distinct unique",
    "percent": "percent percentage share ratio proportion fraction",
    "ascending": "ascending asc alphabetical alphabetically",
    "descending": "descending desc",
    "same": "same",
    "next": "next upcoming",
    "usually": "usually typically normally generally potentially",
    "previous": "previous",
}
MARKS: dict[str, str] = {word: mark for mark, words in _MARK_WORDS.items() for word in words.split()}
"""Word to the mark it leaves: what a cosine does not see and a plan's parse tree does."""

KEPT_BESIDE_MARK = frozenset(
    """cheapest latest largest biggest greatest longest highest tallest smallest shortest lowest oldest eldest newest
    easiest hardest deepest earliest youngest recent priciest costliest dearest heaviest lightest busiest richest
    popular good hard difficult easy median other different best worst""".split()
)
"""Words that leave a mark and stay content too, because their adjective says what is measured."""

PHRASES: dict[tuple[str, ...], str] = {
    ("e", "mail"): "email",
    ("e", "mails"): "emails",
    ("how", "many"): "<count>",
    ("the", "number", "of"): "<count>",
    ("number", "of"): "<count>",
    ("numbers", "of"): "<count>",
    ("the", "count", "of"): "<count>",
    ("count", "of"): "<count>",
    ("count", "how", "many"): "<count>",
    ("total", "number", "of"): "<count>",
    ("the", "total", "number", "of"): "<count>",
    ("total", "count", "of"): "<count>",
    ("quantity", "of"): "<count>",
    ("the", "quantity", "of"): "<count>",
    ("tally", "of"): "<count>",
    ("a", "tally", "of"): "<count>",
    ("head", "count", "of"): "<count>",
    ("a", "count", "of"): "<count>",
    ("a", "total", "of"): "<count>",
    ("how", "much"): "<much>",
    ("how", "long"): "<long>",
    ("how", "often"): "<often>",
    ("at", "least"): "<ge>",
    ("no", "less", "than"): "<ge>",
    ("not", "less", "than"): "<ge>",
    ("no", "fewer", "than"): "<ge>",
    ("or", "more"): "<ge>",
    ("or", "greater"): "<ge>",
    ("or", "above"): "<ge>",
    ("or", "higher"): "<ge>",
    ("at", "most"): "<le>",
    ("no", "more", "than"): "<le>",
    ("not", "more", "than"): "<le>",
    ("up", "to"): "<le>",
    ("or", "less"): "<le>",
    ("or", "fewer"): "<le>",
    ("or", "below"): "<le>",
    ("or", "lower"): "<le>",
    ("more", "than"): "<gt>",
    ("greater", "than"): "<gt>",
    ("higher", "than"): "<gt>",
    ("larger", "than"): "<gt>",
    ("bigger", "than"): "<gt>",
    ("less", "than"): "<lt>",
    ("fewer", "than"): "<lt>",
    ("lower", "than"): "<lt>",
    ("smaller", "than"): "<lt>",
    ("later", "than"): "after",
    ("earlier", "than"): "before",
    ("prior", "to"): "before",
    ("other", "than"): "except",
    ("apart", "from"): "except",
    ("most", "recent"): "latest",
    ("most", "recently"): "latest",
    ("as", "well", "as"): "and",
    ("in", "total"): "total",
    ("so", "far"): "",
    ("right", "now"): "now",
    ("at", "the", "moment"): "now",
    ("at", "present"): "now",
    ("these", "days"): "now",
    ("at", "any", "time"): "ever",
    ("more", "often", "than"): "<gt>",
    ("in", "excess", "of"): "<gt>",
    ("north", "of"): "<gt>",
    ("any", "of"): "either",
    ("one", "of"): "either",
    ("and", "also"): "and",
    ("not", "earlier", "than"): "since",
    ("no", "later", "than"): "until",
    ("not", "later", "than"): "until",
    ("no", "earlier", "than"): "since",
    ("at", "all"): "",
    ("of", "course"): "",
    ("a", "lot", "of"): "",
    ("kind", "of"): "",
    ("kinds", "of"): "",
    ("type", "of"): "",
    ("sort", "of"): "",
    ("who", "'s"): "who",
}
"""Runs of words read as one; the longest wins."""

PHRASE_MARKS = {"<ge>": "ge", "<le>": "le", "<gt>": "gt", "<lt>": "lt", "<often>": "often"}

DIRECTIONS = {
    "from": "from", "leaving": "from", "departing": "from", "to": "to", "into": "to", "before": "before",
    "until": "until", "till": "until", "til": "until", "after": "after", "since": "since", "without": "not",
    "except": "not",
    "excluding": "not", "not": "not", "outside": "not", "between": "between", "<gt>": "gt", "over": "gt", "above": "gt",
    "exceeding": "gt", "exceed": "gt", "exceeds": "gt", "beyond": "gt", "<lt>": "lt", "under": "lt", "below": "lt",
    "within": "within", "<ge>": "ge", "<le>": "le", "isn't": "not", "aren't": "not", "wasn't": "not", "weren't": "not",
    "non": "not", "through": "through", "via": "through", "against": "against",
}  # fmt: skip
"""What a word in front of a slot says about the direction of its value."""

PLAIN_PREPOSITIONS = frozenset("in on of by for at with during about and or".split())
STOPPING_PREPOSITIONS = frozenset(
    """in on at to from by for of with through near within under over about between via into after before as and or
    during than since until without except per <gt> <lt> <ge> <le> that who which whose where when""".split()
)

LEADS = frozenset("please ok okay hi hello hey so and now just well then thanks , . ! the".split())
AUXILIARIES = frozenset(
    """is are does do did can has have was were will could would should am isn't aren't doesn't don't didn't hasn't
    haven't wasn't weren't must may""".split()
)
IMPERATIVES = frozenset(
    """show list give find return tell display get name need want like provide enumerate pull fetch see search count
    retrieve report let""".split()
)
WH_WORDS = frozenset("what which who whom whose where when how why <count> <much> <long> <often>".split())

PERSONS = frozenset(
    """person customer client user employee instructor professor teacher lecturer assignee reporter author writer sender
    recipient patient doctor nurse student member colleague buyer seller driver contact staff manager owner""".split()
)
"""What "who" may stand for."""

TIME_NOUNS = frozenset("date time day month year quarter week period semester".split())

SYNONYMS = (
    "buy purchase",
    "customer client buyer shopper",
    "product article item",
    "teacher instructor professor lecturer",
    "film movie",
    "cost price",
    "employee staff worker",
    "city town",
    "large big",
    "cheap inexpensive",
    "expensive pricey",
    "refund reimburse",
    "ship deliver dispatch",
    "ticket issue",
    "email mail message",
    "class course",
    "revenue turnover income",
    "spend pay",
    "amount value",
    "reason cause",
    "country nation",
    "old early",
    "new recent late",
    "assign allocate",
    "creator author",
    "begin start",
    "end finish",
    "need require",
    "fulfil fulfill satisfy meet",
    "offer available",
)
SYNONYM_GROUPS: dict[str, frozenset[int]] = {}
for _number, _line in enumerate(SYNONYMS):
    for _word in _line.split():
        SYNONYM_GROUPS[_word] = SYNONYM_GROUPS.get(_word, frozenset()) | {_number}

LIGHT_VERBS = frozenset("placed placing made making occurred occurring happened happening recorded existing".split())
"""Participles that say no more than that the thing exists: "orders placed in March" are the orders in March."""

HARMLESS = frozenset(
    """place make occur happen put come belong relate associate give certain specific particular various several
    offer following entire whole complete full respective own various currently today""".split()
)
"""Content words that one side may have and the other not."""
