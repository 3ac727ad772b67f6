"""Words that end sentences and name no file, host or variable: a full stop behind them waits for nothing.

Left out are words that a dot may follow in a name ("example.com", "file.py") and those that a pause in mid-sentence
often follows ("Well...", "I mean...").
"""

from __future__ import annotations

LAST_WORDS = frozenset(
    """
    above abroad absent advice afraid afternoon afternoons again age ages ago agree ahead alike alive alone along
    aloud already always among anger animals anybody anymore anyone anything anytime anywhere apart apologize appear
    appetite arms around arrive aside ask asleep assist assistance attend aunt awake aware away awful baby back bad
    badly bag basket bath be beach bear beautiful become bed bedroom been beg begin behave behind being believe
    belong below beneath beside better between beyond birth birthday birthdays bite bitter blood boat bodies bone
    bones boring born bottles boy boys brain brave bread breakfast breath breathe bright bring broken brother
    brothers brown burn buy by bye cake came care careful carefully cars cat catch cats cease cellar cents centuries
    century chair chairs chance chances cheap check cheese child childhood children choose church clever climb cloth
    clothes cloudy coat coats coffee cold come comes comfortable coming common complain confident confusing contain
    convenient cook cooking corner correct cost costs countries country courage course cousin cousins coward cows
    crazy crowd cry curious dance danger dangerous dark darkness daughter daughters dawn day days dead deaf death
    debt decade decades deep defend delay delays delicious depend deserve desire despair destroy die different
    difficult difficulty dinner dirt dirty disagree disappear disease dishes disturb do does dogs doing dollars
    door doors doubt down dozen dreams dress drink drinks driven driving drop dry dull during dusk ear early ears
    earth easier easily easy eat eating eggs eight eighty eleven else elsewhere emergency empty encourage enemies
    enemy enjoy enough evenings every everybody everyone everything everywhere evil excellent expect expensive
    experience explain eyes face faces fail fair faith fall false famous far farmer farmers farther fast faster fat
    father fathers fault favorite fear feelings feet fell felt fever few fifteen fifty fight fighting fingers fire
    first fish five flesh flew flour flowers fly flying fog follow food foolish foot forbid forest forever forget
    forgive forgiven forgot forgotten forth fortnight fortunate forty forward fought found four fourteen fourth free
    freely fresh friend friendly friends friendship frightening frozen fruit full fun funny further gain garden
    gardens gave gentle gently get girl girls given glad glass glasses gloves goes going gone good goodbye got
    grandfather grandmother grass grateful grave great grew grief ground grow growing grown guests guilty habit
    habits had hair half hands handsome happen happens happier happily happiness happy hard harder harm hat hate
    having health healthy hear heard heart hearts heat heaven heavily heavy help helpful helps her here hers herself
    hesitate high higher hills him himself his history hold holiday holidays honest honey hope horrible horse horses
    hospital hot hour hours huge human humans humor hundred hungry hunt hurry hurt hurts husband ice ideas ignorant
    ill illness illnesses impatient impossible impressive improve improvement inches incorrect infinite ingredients
    inside instead interesting invite issues it itself jacket join joke jokes journey joy juice jump keep kept kind
    kindly kindness kitchen knee knees knew knife knives knowing knowledge known knows ladies lady lake lamb
    large last late later latter laugh laughter law lawyer lazy leave leaves leg legs lemon less lessons lie lies
    life light lightly liked likely lips listen lives long longer look looks lose loss lost loud louder loudly
    lovely low lower luck lucky lunch magnificent man mankind many marriage maturity me meal meals meant meat
    medicine meetings melt men mercy mess met midday midnight mild miles milk million millions mind mine minutes
    misery mistake mistaken mistakes misunderstanding moment moments money months mood more moreover morning
    mornings most mother mothers mountain mountains mouth much mud murder mushrooms myself narrow near nearby
    necessary neck needs neighbor neighborhood neighbors nephew nervous never newspapers nice niece night nights
    nine nineteen ninety nobody noise noisy none nonsense noon normal north nose nothing now nowadays nowhere obey
    obvious occasion occasionally occur ocean odd off offend often old older once ones onions opinion opinions
    opportunities opposite ordinary other others ought ours ourselves out outdoors outside over overnight own pain
    painful pains paint pale parents particular passage passengers past patience pay peace pencil people pepper
    perfect perfectly permission person pity pleasant pleasure plenty poison polite politely poor poverty praise
    pray prayers precious prepare presence pretend pretty pride priest prince princess prison prisoner prisoners
    probable promise promises proof proper prosper proud prove proven punishment purple put quarrel questions
    quickly quiet quieter quietly quite rain rainy ran rare rather reach readers realize rear rejoice relatives
    relax religion remain remember repent reputation rescue rest restaurant restaurants rice rich ride right rise
    rises river rivers roof rough round rude run running rush sad sadly sadness safely safer sailors salad salt same
    sand sang sank saw saying says scarce scared scarf schools science scientists sea seas season seasons seat seats
    second seconds secrets seeing seem seems seen sentences serious served settle seven seventeen seventy several
    shade shake shallow shame shape sharp sheep shine shirt shirts shoes short shortly shoulder shoulders shout
    shower shut shy sick side sides sight silence silent silk silly similar simply sin sing singing sink sir sister
    sisters sit situation situations six sixteen sixty skin skirt sky sleep sleeping sleepy slept slow slower slowly
    small smaller smoke snow soft softly soil sold soldier soldiers somebody somehow someone something sometime
    sometimes somewhat somewhere son songs sons soon sooner sorrow soul sound sounds soup south speak speech
    spent spite spoke spoken spoon sports spot spread stairs stand stars stay steal stomach stone stones stood stop
    stories storm storms stormy strange strangely stranger strangers strength strong stronger struggle students
    study stupid succeed success sudden suddenly suffer suffering sugar suit summer sunny sunset sunshine supper
    surely surprise surprising sweet swim talk talking tall tasty taught tax tea teach teacher teachers tears teeth
    ten terrible terribly thank thanks them themselves there thereafter thick thief thieves thin things
    third thirsty thirteen thirty thought thoughts thousand thousands threats three throat through
    throughout thunder tickets tight time times tired today toe toes together told tomatoes tomorrow tongue tonight
    too took tooth touch tough towel town towns toys travel travelers tree trees tribe trips trouble troubles
    trousers truck true truly trust truth try trying twelve twenty twice ugly umbrella uncle uncles under understand
    understanding understood uneasy unfair unfortunate unhappy unique unknown unlikely unpleasant unusual up upset
    upstairs useful useless usual vegetables vehicles victory village villages violence visitors voices wages walk
    walking wall walls want wants war warm warmth warning wars was waste way ways weak weakness wealth wear wearing
    weary weddings wednesday week weekend weekends weeks welcome went west wet whatever wheat whenever wherever
    whole whom whose wicked wide widow wife winds wine winner winners winter wisdom wise wish within without wolf
    woman women won wonderful wonders wood wool work worked workers working works worried worry worse worst worth
    wound wounds write writing written wrong years yellow yesterday yet you young younger yours yourself yourselves
    youth
    """.split()
)
ENDINGS = ("ed", "ly", "ness", "ful", "less", "'t", "'s")
"""Most longer words with these endings are such words, too."""
NOT_LAST = frozenset(
    """
    actually admittedly ally anomaly apparently apply assembly basically bed belly bitly breed briefly bully
    business butterfly certainly clearly curated daily doily embed family feed feedly finally firstly fly frankly
    generally grammarly harness headless holy honestly hopefully hotbed hourly ideally indeed italy jelly july lily
    literally luckily med mixed monopoly monthly mostly multiply naturally nested obviously ordinarily originally
    hesitated muttered paused sighed trailed whispered wondered
    parsed personally plaid possibly presumably previously probably rally reed reply sadly seed serverless shared
    shed shred similarly simply sled speed supply ted unfortunately unified united usually weed weekly wired
    wireless yearly zed
    """.split()
)
"""Less these."""
