"""Word tables of the English text normalizer: plain data, nothing computed beyond joining and splitting."""

from __future__ import annotations


def table(text: str) -> dict[str, str]:
    """``key what is said`` by ``key``, entries two spaces or a line apart."""
    entries = (entry.partition(" ") for line in text.strip().splitlines() for entry in line.strip().split("  "))
    return {key: said for key, _, said in entries}


MONTHS = table("""
    January January  February February  March March  April April  May May  June June  July July  August August
    September September  October October  November November  December December  Jan January  Feb February  Mar March
    Apr April  Jun June  Jul July  Aug August  Sep September  Sept September  Oct October  Nov November
    Dec December
""")
MONTH_NAMES = list(dict.fromkeys(MONTHS.values()))
MONTH_PREFIXES = frozenset(name[:n] for name in MONTHS for n in range(1, len(name) + 1))

# Read out with the dot gone; a sentence never ends after these.
NEVER_ENDS = table("""
    Mr Mr  Mrs Mrs  Ms Miz  Prof Professor  Gen General  Gov Governor  Sen Senator  Rep Representative  Capt Captain
    Lt Lieutenant  Col Colonel  Sgt Sergeant  Cmdr Commander  Rev Reverend  Hon Honorable  Pres President
    Supt Superintendent  Cpl Corporal  Maj Major  Adm Admiral  Fr Father  Msgr Monsignor  Mt Mount  Ft Fort
    Atty Attorney  e.g for example  i.e that is  vs versus  cf compare  approx approximately  Drs Doctors
    Messrs Messieurs  Profs Professors  Mme Madame  ca circa  viz namely  Insp Inspector  Sens Senators
    Reps Representatives  dept department  depts departments  ext extension  Ext Extension  Rt Right  est established
    Est Established  co company  cos companies  temp temperature  avg average  Avg Average  Misc Miscellaneous
    govt government  intl international  acct account  Intl International  appt appointment  incl including
    excl excluding  asst assistant  Asst Assistant  Mlle Mademoiselle  Dir Director  Pt Point  Tel Telephone
    tel telephone  feat featuring  Feat Featuring  fav favorite  esp especially  Esp Especially  mfg manufacturing
    resp respectively  E.g For example  I.e That is  eg for example  Approx Approximately
""")
_NO_TITLES = ("Gen", "Mr", "Mrs", "Est", "Ext", "Avg", "Misc", "Intl", "Esp", "Tel", "Approx")
TITLES = {k: v for k, v in NEVER_ENDS.items() if k[0].isupper() and k.isalpha() and k not in _NO_TITLES}
TITLES |= {"St": "Saint", "Dr": "Doctor"}

# Read out with the dot gone; the first character of what follows tells whether the sentence ends.
MAY_END = table("""
    Jr Junior  Sr Senior  Ave Avenue  Blvd Boulevard  Rd Road  Ln Lane  Hwy Highway  Pkwy Parkway  Ste Suite
    Apt Apartment  Bldg Building  Ltd Limited  Inc Incorporated  Corp Corporation  Co Company  Bros Brothers
    Dept Department  Univ University  Assn Association  Govt Government  Weds Wednesday  Thur Thursday
    Sq Square  Ct Court  Pl Place  Fwy Freeway  Expy Expressway  Ter Terrace  Cir Circle  Int'l International
    Assoc Associates  Mfg Manufacturing  Dist District  Bldgs Buildings  Mts Mountains  Mtn Mountain  ave avenue
    blvd boulevard  apt apartment  Mgr Manager  Esq Esquire  Qtr Quarter  qtr quarter  Qty Quantity  qty quantity
    cyl cylinders
    Terr Terrace  etc etc  al al  Mon Monday  Tue Tuesday  Tues Tuesday  Wed Wednesday
    Thu Thursday  Thurs Thursday  Fri Friday  Sat Saturday  a.m A.M.  p.m P.M.  A.M A.M.  P.M P.M.  Ph.D PhD
    ph.d PhD  Jan January  Feb February  Mar March  Apr April  Jun June  Jul July  Aug August  Sep September
    Sept September  Oct October  Nov November  Dec December
""")
SPELLED_MAY_END = frozenset("B.A M.A M.D B.C A.D B.S M.S J.D R.I.P B.C.E C.E M.B.A".split())
# Far more often followed by a name than by a new sentence: they end one only before a word that starts sentences.
PLACES = frozenset("U.S U.S.A U.K U.N E.U D.C L.A N.Y U.S.S.R U.A.E".split())
STARTERS = frozenset(
    "The A An It Its He She They We You I This That These Those There Here In On At By But And So Or If When While "
    "As Then Now However Although After Before Since Because For From To What Who Why How Where My Our Your His Her "
    "Their Yes No Not Nobody Some Many Most All".split()
)
_CONTRACTED = {"s": "It He She That There Here What Who How This Let", "re": "They We You", "m": "I"}
STARTERS |= {f"{word}{sign}{end}" for end, words in _CONTRACTED.items() for word in words.split() for sign in "'’"}
STARTER_PREFIXES = frozenset(word[:n] for word in STARTERS for n in range(1, len(word) + 1))

HALVES = frozenset("a.m p.m A.M P.M".split())
ZONES = frozenset("EST EDT ET PST PDT PT CST CDT CT MST MDT MT GMT UTC BST CET CEST EET JST KST".split())
"""Behind the half of a day."""
# An abbreviation only before a number: "No. 5", "Jan 5"; an ordinary word otherwise.
BEFORE_NUMBER = table("""
    No. Number  Nos. Numbers  no. number  nos. numbers  Fig. Figure  fig. figure  Figs. Figures  figs. figures
    Vol. Volume  vol. volume  Vols. Volumes  Ch. Chapter  ch. chapter  p. page  pp. pages  Sec. Section
    sec. section  Eq. Equation  eq. equation  Jan January  Mar March  Art. Article  art. article  c. circa
    Ver. Version  ver. version  Max. Maximum  Min. Minimum  Rm. Room  rm. room  Rte. Route  Ste. Suite  Bk. Book
    par. paragraph  Rev. Revision  rev. revision  pg. page  pgs. pages  Pg. Page  Ep. Episode  ep. episode
    Eps. Episodes  Ps. Psalm  Fl. Floor  para. paragraph  paras. paragraphs
    Para. Paragraph  Res. Resolution  Op. Opus  op. opus  Reg. Regulation  reg. regulation
    Cor. Corinthians  b. born  d. died  ref. reference  Ref. Reference  eqn. equation
    Sat Saturday  Sun Sunday
    Eqn. Equation  Pt. Part  pt. part  Apt Apartment  apt apartment  Ste Suite  Rm Room  Bldg Building  Ext Extension
""")

BOOKS = table("""
    Gen Genesis  Ex Exodus  Lev Leviticus  Num Numbers  Deut Deuteronomy  Josh Joshua  Prov Proverbs  Isa Isaiah
    Jer Jeremiah  Matt Matthew  Rom Romans  Gal Galatians  Eph Ephesians  Phil Philippians  Heb Hebrews  Rev Revelation
""")
"""Of the Bible, before chapter and verse."""
LIMITS = {"max": "maximum", "min": "minimum"}
"""With a dot; a sentence ends only behind "the max."."""
PLAIN = table("""
    °C degrees Celsius  °F degrees Fahrenheit  401k four oh one K  401K four oh one K  20/20 twenty twenty
    a.k.a also known as  attn attention  Attn Attention  thx thanks  pls please  plz please  ppl people
    M-F Monday to Friday  M–F Monday to Friday  20-20 twenty twenty
    Mk Mark  Rte Route  YoY year over year  QoQ quarter over quarter  MoM month over month  cont'd continued
    Cont'd Continued  int'l international  nat'l national  Nat'l National  gov't government  Gov't Government
    ass'n association  tmrw tomorrow  tmr tomorrow  wknd weekend
    b/w between  avg'd averaged
    hrs hours  y/o year old  Y/O year old
    CO2e C.O. two E  CO_2e C.O. two E
    401(k)s four oh one Ks  401ks four oh one Ks  401Ks four oh one Ks  b4 before  gr8 great
    ext extension  O-O castles short  O-O-O castles long  24/7/365 twenty-four seven three sixty-five
    vs versus  aka also known as  AKA also known as  BTW by the way  IMO in my opinion  TBD to be determined
    w/ with  w/o without  w/in within  24/7 twenty-four seven  9/11 nine eleven  50/50 fifty fifty  401(k four oh one K
    403(b four oh three B  TL;DR T.L.D.R.  NaN nan  HeLa hela  &c etc  C++ C plus plus  C# C sharp  F# F sharp
    c++ C plus plus  c# C sharp  'n' and  'n and  n' and  'em 'em  b/c because  n/a not applicable
    N/A not applicable  c/o care of  PhD PhD  Ms Miz  Sept September  Feb February  Aug August  Oct October
    Nov November  Dec December  Jun June  Jul July  Apr April  .NET dot net  e.g for example  i.e that is
""")

ROMAN_CARDINAL = frozenset(
    "chapter part act scene section volume book phase article war mark type level stage class grade bowl apollo gemini "
    "fantasy episode round rocky title appendix figure table step quadrant tier category civil algebra calculus factor "
    "generation gen group schedule annex division ward zone unit item vol no number mk star cohort group schedule "
    "physics chemistry biology trek halo diablo psalm canto book theorem lemma axiom rule option plan exhibit form "
    "army corps legion".split()
)
ROMAN_ORDINAL = frozenset(
    "Pope King Queen Henry Louis Edward George William Charles James Richard Elizabeth Napoleon Pius Benedict Leo Paul "
    "Ramses Frederick Philip Alexander Nicholas Peter Catherine Ivan Umberto Emmanuel Gustav Christian Ferdinand "
    "Innocent Gregory Clement Mehmed Wilhelm Otto Juan Felipe Haakon Olav Carl Francis Franz Joseph Charlemagne Darius "
    "Xerxes Cyrus Ptolemy Cleopatra Thutmose Amenhotep Ramesses Seti Justinian Constantine Theodosius Leopold Albert "
    "Baudouin Christina Mary Anne Alfonso Carlos Pedro Joao John Harald Magnus Boniface Urban Sixtus Julius Adrian "
    "Alexios Selim Suleiman Murad Abdul Mohammed Hussein Abdullah Rama Edmund Robert David Malcolm Stephen Harold "
    "Smith Jones Williams Brown Davis Miller Wilson Taylor Anderson Thomas Jackson White Harris Martin Thompson Moore "
    "Clark Lewis Walker Hall Young Allen Wright Scott Hill Green Adams Baker Nelson Carter Mitchell Roberts Turner "
    "Phillips Campbell Parker Evans Edwards Collins Stewart Morris Murphy Cook Rogers Rockefeller Kennedy Vanderbilt "
    "Griffin Gates Howell Hughes Foster Bryant".split()
)
NOT_ROMAN = frozenset("IV VI XX XXX CV CD DC MD MI MC DI LI LC CC MIX XL XXL XI CI CL".split())
"""Initials, sizes and names rather than numerals where nothing to the left asks for one."""

SYMBOLS = table("""
    += plus equals  -= minus equals  ~= tilde equals  *= times equals  /= divide equals  := is
    ∑ sum  ∏ product  ∫ integral  ∂ partial  ∇ nabla  ∈ in  ∉ not in  ∀ for all  ∃ there exists  ∪ union
    ∩ intersection  ∝ is proportional to  ∅ empty set  ∆ delta  ⊂ subset of  ⊆ subset of  ∴ therefore  ⟹ implies
    ∛ cube root of  ‰ per mille  ¬ not  ∧ and  ∨ or  ≡ is equivalent to  ≅ is congruent to  ⊥ perpendicular to
    ∥ parallel to  ∠ angle  ** to the power of  :: colon colon  & and  @ at  % percent  + plus  = equals
    < less than  > greater than  / slash  \\ backslash  # number  ^ caret  ~ about  ° degrees  ± plus or minus
    × times  ÷ divided by  → to  -> to  => to  <= less than or equal to  ⇒ to  >= greater than or equal to
    == equals  != is not equal to  ≠ is not equal to  − minus  ≤ less than or equal to  ≥ greater than or equal to
    ≈ about  § section  ¶ paragraph  µ micro  √ square root of  ∞ infinity  $ dollars  € euros  £ pounds  ¥ yen
    ¢ cents  ++ plus plus  && and  || or  === equals  +/- plus or minus  --> to  !== is not equal to  <- from
    ← from  ↔ to  †  ‡
""")
GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega"
).split()
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", GREEK_NAMES, strict=True))
LATEX = table("""
    alpha alpha  beta beta  gamma gamma  delta delta  epsilon epsilon  zeta zeta  eta eta  theta theta  iota iota
    kappa kappa  lambda lambda  mu mu  nu nu  xi xi  omicron omicron  pi pi  rho rho  sigma sigma  tau tau
    upsilon upsilon  phi phi  chi chi  psi psi  omega omega  times times  cdot times  div divided by
    pm plus or minus  mp minus or plus  le less than or equal to  leq less than or equal to
    ge greater than or equal to  geq greater than or equal to  ne is not equal to  neq is not equal to
    approx is about  equiv is equivalent to  infty infinity  sum sum  int integral  prod product
    sqrt square root of  frac  over over  to to  rightarrow to  Rightarrow implies  partial partial  nabla nabla
    in in  notin not in  subset subset of  cup union  cap intersection  forall for all  exists there exists
    sin sine  cos cosine  tan tangent  log log  ln natural log  lim limit  left  right  text  mathrm  mathbf  quad
    ldots  dots  circ degrees  power to the power of  angle angle  degree degrees  percent percent  begin  end
""")

SUFFIX_WORDS = table("""
    com com  org org  net net  gov gov  info info  biz biz  edu E.D.U.  json jason  toml tommel  yaml yammel
    wav wave  bin bin  zip zip  log log  jpeg jay peg  app app  dev dev  bat bat  conf conf  ai A.I.  lock lock
    text text  onion onion  blog blog  shop shop  online online  cloud cloud  tech tech  site site  store store
    news news  env env
""")
DOMAINS = frozenset(
    "com org net edu gov io co uk de fr info biz us ca au tv me ly ai app dev ch at nl be es it jp cn in ru eu "
    "rs gg sh xyz nz br pl se dk fi kr mx fm".split()
)
EXTENSIONS = frozenset(
    "py js ts tsx jsx txt md json toml yaml yml html htm css csv tsv xml pdf doc docx xls xlsx ppt pptx png jpg jpeg "
    "gif "
    "svg mp3 mp4 wav ogg flac avi mov zip tar gz bz2 exe dll so sh bat ps1 c h cpp hpp rs go java rb php sql log cfg "
    "ini "
    "conf lock onnx bin ipynb toml env pyc whl".split()
)
HOSTS = table("""
    openai open A.I.  github git hub  gitlab git lab  localhost local host  youtube you tube  www W.W.W.
""")

# What left of a figure says how it is read.
_CUES = {
    "code": "pin zip isbn issn iban ssn account acct passcode otp imei vin sku routing tracking confirmation serial "
    "extension ext postcode card password cvv swift bic upc ein badge passport a/c chmod plate",
    "dial": "call dial text phone ring sms fax tel telephone mobile hotline helpline cell",
    "label": "room route highway flight port gate suite apt apartment error channel box bus model form order invoice "
    "ticket case ending building interstate terminal code number bldg unit locker platform rooms seat seats gates "
    "hwy rte area id version ends build reference ref reservation booking claim signature http # po p.o exit",
}
CUES = {"per": "per"} | {word: kind for kind, words in _CUES.items() for word in words.split()}
LINKS = frozenset("is are was number no no. nr code ending in with or and at # num digits : me us them to".split())
"""Words that may stand between such a word and its figures."""
ARROWS = frozenset("→ -> => ⇒ ➡ ← ↔ ➜ ➤".split())
SHORT_NUMBERS = frozenset("911 411 311 511 611 711 811 211 988 999 112 101 111 000 110 119".split())
YEAR_WORDS = frozenset("in since by until till before after during year circa ca c c. ad".split())
DATE_WORDS = frozenset(
    "on since until till due before after dated from through monday tuesday wednesday thursday friday saturday sunday "
    "mon tue tues wed weds thu thur thurs fri sat sun "
    "date deadline expires scheduled ends starts begins opens".split()
)
AHEAD = {
    kind: frozenset(words.split())
    for kind, words in {
        "numbers": "two three four five six seven eight nine ten eleven twelve double triple all many these those",
        "durations": "in for after within every about under over takes took take than wait waits lasts lasted last ~",
        "lasting": "timeout timeouts delay delays window windows interval intervals clip clips countdown timer timers "
        "limit mark video videos cap budget lap pause wait buffer ad ads spot cooldown rest plank sprint sprints "
        "penalty loop cycle cycles",
        "times": "second seconds minute minutes hour hours day days week weeks and",
        "web": "Not Forbidden Unauthorized Bad Service Gateway Conflict Gone Too Unprocessable Method Request error "
        "errors page pages response responses status code codes",
        "sizes": "monitor monitors tv tvs TV TVs screen screens display displays laptop pizza wheels tires rims "
        "tall wide long deep thick vinyl pipe by x",
        "emergency": "lifeline Lifeline line hotline Hotline helpline Suicide "
        "call calls caller callers operator operators dispatcher dispatchers system center",
        "meters": "time meter metre signature signatures rhythm groove beat waltz",
        "priced": "per a an each apiece more off every",
        "dissolved": "solution solutions sodium potassium magnesium calcium ammonium hydrochloric sulfuric sulphuric "
        "nitric acetic phosphate buffer Tris EDTA HEPES",
        "bills": "bill bills note notes coin coins",
        "counted": "people users views parameters parameter params dollars tokens downloads years devices customers "
        "records rows subscribers streams requests followers plays copies units cells galaxies stars songs visits "
        "visitors players members queries events messages times pairs pages words lines",
        "company": "makes make made is was has had will would says said announced sells stock shares share tape "
        "products product employees adhesive filters masks respirators respirator stadium headquarters sticky",
    }.items()
}
"""Words that tell, before a token of figures or behind it, how it is read: see ``ahead``."""
AHEAD_PREFIXES = {kind: frozenset(w[:n] for w in words for n in range(1, len(w) + 1)) for kind, words in AHEAD.items()}
PRICED_EACH = frozenset("lb kg oz gal qt pt yd".split())
"""Behind an article what a price is for: "$7 a lb."."""
SOVEREIGNS = frozenset("Queen King Pope Emperor Empress Tsar Czar Kaiser Sultan".split())
"""Behind them a name and ``I`` is the first of that name."""
DAY_LINKS = frozenset("and or to through thru until & - –".split())
"""Between two days of one month."""
SOFTWARE = frozenset(
    "python ruby perl php rust go golang java kotlin django rails swift postgres kubernetes angular numpy scipy pandas "
    "torch pytorch tensorflow keras flask fastapi pydantic scikit-learn matplotlib pillow onnxruntime "
    "transformers node node.js npm pip macos ios android ubuntu fedora kernel linux cuda cmake gcc clang "
    "version versions".split()
)
"""Their versions have a number behind the point: Python 3.12."""
SCRIPTURE = frozenset((*BOOKS, *BOOKS.values())) | frozenset(
    "Psalm Psalms Mark Luke John Acts Corinthians Philippians Colossians Thessalonians Timothy Titus James Peter Jude "
    "Joshua Judges Ruth Samuel Kings Chronicles Ezra Nehemiah Esther Job Ecclesiastes Ezekiel Daniel Hosea Joel Amos "
    "Micah Surah Quran".split()
)
"""Books of chapters and verses."""
STEPS = frozenset("step page part slide question round stage day item image photo".split())
"""Behind them ``3/5`` is the third of five."""
RATED = frozenset("rated rating score scored scores rate got gets earned".split())
ARTICLES = frozenset(("a", "an"))
SUMS = frozenset("is calculate compute what's solve equals plus minus times whats".split())
"""Left of a number they make a hyphen behind it a minus."""
UNCOUNTED = frozenset(
    "a an these those my your his her our their than page pages chapter step top level about over only just nearly "
    "almost exactly every have has had are were takes took take need needs with into another plus under at in least "
    "most per all some scored won lost costs cost makes contains includes include get got add adds added use uses used "
    "roughly around approximately within another such up out last past next first top version grade age aged room "
    "section question item number no gate figure table or".split()
)
"""Behind them a number is no day of a month."""
LETTERED = frozenset(
    "plan vitamin grade option part section class type group team hepatitis gate bus appendix exhibit choice answer "
    "point step case column row terminal letter an a drive block unit level scenario side line train like learn use "
    "using is was".split()
)
"""Behind them a capital is a name of its own, not the initial of one."""

# Words in capitals that are read as words, whatever a lexicon makes of the letters.
SAID = table("""
    JSON jason  YAML yammel  README read me  CUDA cooda  BERT bert  GAN gan  GANs gans  ANOVA anova  AMOLED ammoled
    TOML tommel  TODO to do  TODOs to dos  FERPA ferpa  SATA sayta  NAND nand  XOR ex or  BASIC basic
    FORTRAN fortran  COBOL cobol  LaTeX lay tech  LAMP lamp  MOSFET moss fet  VRAM V. ram  DRAM D. ram  SRAM S. ram
    EPROM E. prom  EEPROM E. E. prom  JPEGs jay pegs  GIFs gifs  NASDAQ nasdaq  UNICEF unicef  CAPTCHA captcha
    MOOC mook  SQLite S.Q.L. lite  LoRA laura  RAG rag  PoE P.O.E.  PCIe P.C.I. express  NVMe N.V.M. E.
    OAuth O. auth  WiFi wye fye  WebRTC web R.T.C.  eBay ee bay  eSIM ee sim  iOS I.O.S.  iPadOS I pad O.S.
    DIMM dim  GUIs gooeys  ARPANET arpanet  FAFSA fafsa  MERS merz  AWOL A. wall  SWAT swat  LIDAR lidar
    LiDAR lidar  SONAR sonar  SCUBA scuba  RADAR radar  LASER laser  GOP G.O.P.  PO P.O.  ESPN E.S.P.N.  CAD cad
    CAM cam  Ctrl control  Cmd command  Esc escape  EBITDA eebit dah  IKEA eye kia  UPS U.P.S.  GAAP gap
    NAACP N. double A.C.P.  WWII World War Two
    WWI World War One  IMDb I.M.D.B.
""")
# Letters that are said one by one, in small letters too.
SPELLED = frozenset(
    "utf css html http https xml sql csv tsv pdf png svg cpu gpu usb url urls uri api apis ssh ssl tls ftp dns tcp udp "
    "ip vpn ui ux cli sdk ide npm rc sha md rsa aes llm llms gpt tts asr ocr nlp ml ai js ts py rb cpp hpp php mp ps "
    "ipv es omg brb idk btw imo imho tbh ngl smh fyi rofl afaik iirc tldr ikr ftw wtf diy faq nsfw ama eta dm dms "
    "rpm bpm mph tv dvd dj pc hr pr ceo id ph ios gb kb mb tb std gcc aws gcp ec rds vm vms isbn iban pdfs dna rna hiv "
    "uk usa uae eu un ny nyc la dc sf psi oss os db gdp xr vr ar tcp lan ttyl wyd tysm fwiw ofc lmao irl afk "
    "pov prn qid qhs".split()
) - {"mph", "es", "la", "un", "ar", "md", "ps", "ts", "mp", "ec", "ny", "ph", "lan", "std", "gb", "kb", "mb", "tb"}
# The same, but only where they touch figures.
SPELLED_BESIDE_FIGURES = SPELLED | frozenset(
    "es md ps ts mp ec ny ph std gb co no so in he be us hi po la is it".split()
)
# Short words that nobody means as initials in a line of capitals.
SHORT_WORDS = frozenset(
    "the and for you not but are was all can her his our out day get has him how man new now old see two way who "
    "did its let put say she too use do go he if in is it me my no of on or so to up us we be by at as an am add "
    "make them this that with have from they will what when your said each time only come over just like long than "
    "then very been call find down must even here well more also into some want need stop good best love life live "
    "free sale off big yes why any own may try ask run set buy pay win end back next last back take give know help "
    "hand high keep read work hard room road home stay away open show were our had hey oh wow had off let ever".split()
)
LONG = frozenset("in of took lasted ran took runtime duration length runs".split())
"""Behind them hours, minutes and seconds are a length of time."""
DOSES = frozenset(("BID", "TID", "QID", "PRN"))
"""How often a medicine is taken, in letters."""
AMBIGUOUS = frozenset(("US", "IT", "WHO", "AM", "OR", "IN", "ME", "OK", "ADD", "MAY"))
"""Of these, initials too: words only behind a longer word in capitals that is one."""
STATES = table("""
    AL Alabama  AK Alaska  AZ Arizona  AR Arkansas  CA California  CO Colorado  CT Connecticut  DE Delaware  FL Florida
    GA Georgia  HI Hawaii  ID Idaho  IL Illinois  IN Indiana  IA Iowa  KS Kansas  KY Kentucky  LA Louisiana  ME Maine
    MD Maryland  MA Massachusetts  MI Michigan  MN Minnesota  MS Mississippi  MO Missouri  MT Montana  NE Nebraska
    NV Nevada  NH New Hampshire  NJ New Jersey  NM New Mexico  NY New York  NC North Carolina  ND North Dakota  OH Ohio
    OK Oklahoma  OR Oregon  PA Pennsylvania  RI Rhode Island  SC South Carolina  SD South Dakota  TN Tennessee
    TX Texas  UT Utah  VT Vermont  VA Virginia  WA Washington  WV West Virginia  WI Wisconsin  WY Wyoming  DC D.C.
""")
"""Behind a place and a comma."""
INTERJECTIONS = frozenset("Yes No Well Oh So And But Sure Alright It's I'm Okay Now Then Hi Hello Hey".split())
WEEKDAYS = table("""
    Mon Monday  Tue Tuesday  Tues Tuesday  Wed Wednesday  Weds Wednesday  Thu Thursday  Thur Thursday
    Thurs Thursday  Fri Friday  Sat Saturday  Sun Sunday
""")
WEEKDAY_PREFIXES = frozenset(name[:n] for name in WEEKDAYS for n in range(1, len(name) + 1))
ALWAYS_WEEKDAYS = frozenset("Mon Tue Tues Wed Weds Thu Thur Thurs Fri".split())
ROADS = table("""
    St Street  Fl Floor  Dr Drive  Ave Avenue  Blvd Boulevard  Rd Road  Ln Lane  Ct Court  Pl Place  Sq Square
    Ter Terrace  Terr Terrace  Cir Circle  Hwy Highway  Pkwy Parkway  Pkway Parkway  Expy Expressway  Fwy Freeway
    Tpke Turnpike
""")
"""Behind a name or an ordinal number, with a dot or without."""
ONLY_ROADS = frozenset("Ave Blvd Rd Hwy Pkwy Expy Fwy Tpke".split())
QUARTERS = table("""
    NW northwest  NE northeast  SW southwest  SE southeast  N north  S south  E east  W west
""")
EMOTICONS = frozenset(
    ":) :-) :( :-( ;) ;-( (: ): :D :-D :P :-P :p :-p ;P ;-) XD xD :O :-O :o <3 </3 :3 ^_^ ^^ -_- T_T o_O O_o :'( "
    ":'D >:( =) =D =( :S :/ :-/ :| :x ¯\\_(ツ)_/¯ (╯°□°)╯︵".split()
)
"""Faces made of signs: silent."""
STAGE = frozenset(
    "laugh laughs laughing laughter chuckle chuckles chuckling giggle giggles giggling sigh sighs sighing whisper "
    "whispers whispering cough coughs coughing gasp gasps sniff sniffs groan groans yawn yawns snort snorts gulp gulps "
    "inhales exhales sobs sobbing applause".split()
)
"""Stage directions in brackets: silent."""
