"""Words that people use all the time, so that finding one among a source's values says little.

Lemmas; `is_common` also knows their forms. A dictionary word that is not here ("laptop", "seminar", "refunded") is
rare enough in questions to be the value when it is one.
"""

from functools import lru_cache

from simplemma import lemmatize

from qkva.planning.text import FUNCTION_WORDS

COMMON_LEMMAS = frozenset(
    """ability able above absolute accept access account act action active activity actual actually add additional
    address advance advanced advise age ago agree ahead air allow almost alone along already alternative always
    amount analysis annual another answer anyone anything apart appear application apply appoint approve april area
    around arrange arrive art article ask assign assume attach attend august auto available average avoid aware away
    baby back bad bag balance ball bank bar base basic basis bear beat become begin behind believe belong below
    benefit best better beyond big bill bit black block blue board body book born bottom box boy branch break
    breakdown bring broad brother brown buck budget build bunch burn business busy buy call called cancel car card
    care carry case cash catch category cause center central certain chain chance change charge chase cheap check
    child choice choose christian city claim class classic clean clear client close closed code cold collect color
    column combine come comment commercial common community company compare complete completed concern condition
    connect consider consist constant contact contain content continue contract control cook cool copy core corner
    correct cost count country county couple course cover create credit critical cross culture current currently
    customer cut daily dark dash data database date day deal dear decide deep default defect define degree delay
    delete deliver demand dense department describe description design desk detail determine develop development die
    difference different difficult direct direction discount discuss display distance distinct district division
    document dollar done double down draft draw dream drew drink drive drop dry due duration early earn east easy
    eat economy edge education effect effort eight either employ employee empty enable end enough ensure enter
    entire entry equal error escape especially establish euro even evening event eventually everyone everything
    evidence exact exactly example except exclude exist expect expensive experience expert express extra eye face
    fact fail failed fair faith fall false family far farm fast father fault feature federal feel few field fifth
    fight figure file fill final finally finance financial find fine finish fire first fit five fix flag flat floor
    flow fly focus folk follow food foot force foreign forget form formal former forward foundation four frank free
    frequent fresh friday friend front full fun function fund further future gain game gap general generally
    generate get gift girl give glad global goal god gold gone good grace grade grand grant great green ground group
    grow growth guess guide guy half hall hand handle hang happen happy hard hardly head health hear heart heat
    heavy help hero high highly hill history hit hold holiday home hope hot hotel hour house huge human hundred
    husband idea identify identity ill image immediate impact important improve inactive include income increase
    indeed independent index indicate individual industry info information initial inside instance instead interest
    internal international introduce invoice involve issue item january job john join joint joy judge july jump june
    junior just keep key kid kill kind king know label labor lack land language large last late later latest law lay
    lead leader learn least leave left legal length less letter level library lie life light limit line link list
    listen little live load local location lock log lone long look lose loss lot love low lower luck machine mail
    main mainly maintain major make male man manage manager manual march mark market marry mass master match
    material matter maximum may maybe mean measure media medium meet member mention message method middle mind mine
    minimum minor minute miss missing mission mix mobile model modern moment monday money monitor month monthly
    mother morning motion mouth move movie multiple name narrow national native natural nature near nearly necessary
    need negative net never new news next nice night nine none noon nor normal north note nothing notice now null
    number object occur offer office officer official often oil old ongoing online open operate operation opinion
    option orange order ordinary organization original others outcome outside overall overdue owe own owner pack
    page paid pain paper parent park part partial particular partner party pass past path patient pattern pay peace
    pearl penny pending people per percent perfect perform perhaps period permit person personal phone pick picture
    piece place plan plane plant play player please plus point policy poor popular population portion position
    positive possible post potential power practice premium prepare present press pretty prevent previous price
    primary prime print prior priority private probable problem process produce product profile profit program
    progress project promise promote proper property propose protect provide public pull purchase purple purpose
    push put quality quantity quarter queen question quick quickly quiet quite race raise random range rank rapid
    rare rate rather reach react read ready real realize really reason recent recently record red reduce refer
    reference region regular reject relate relation release remain remember remote remove repeat replace reply
    report represent request require research resolve resource respond response rest result return revenue review
    rich ride right ring rise risk road rock role roll room rose round route row royal ruby rule run safe sale same
    sample save say scale schedule school science scope score screen sea search season seat second secret section
    secure see seem segment select sell send senior sense separate serious serve service session set seven several
    shape share sharp ship shop short shot show shut sick side sign signal significant similar simple simply since
    single sister sit site situation six size skill sleep slow small social society soft sold sole solid solution
    solve somebody someone something sometimes son soon sort sound source south space speak special specific speed
    spend sport spot spread spring square staff stage stand standard star start state statement station status stay
    step stick still stock stop store story straight strange street strong structure student study stuff style
    subject submit success such suggest suit sum summer sun sunday supply support sure surface switch system table
    tag take talk target task tax teach team tell ten term test text thank thing think third thousand three through
    thursday ticket tie time tiny title today together tomorrow tool top total touch toward town track trade train
    transfer travel treat tree trend trial trip trouble true trust truth try tuesday turn two type typical under
    understand union unique unit unknown unless upper urban urgent use used useful user usual usually value variety
    various version very via view village visit visitor voice vote wait walk wall want war warm warn wash waste
    watch water way weak wear web wednesday week weekly weight welcome well west white whole wide wife win wind
    window winter wish woman wonder wood word work worker world worry worse worst worth write wrong year yearly
    yellow yes yesterday yet young zero""".split()
)


@lru_cache(maxsize=50_000)
def is_common(word: str) -> bool:
    """Whether a folded word, or its lemma, is one that questions use all the time."""
    return word in FUNCTION_WORDS or word in COMMON_LEMMAS or lemmatize(word, lang="en").lower() in COMMON_LEMMAS
