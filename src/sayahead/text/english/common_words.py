"""The thousand most frequent words of the LJ Speech training transcripts (public domain), for random futures."""

COMMON_WORDS: tuple[str, ...] = tuple(
    """
the of and to in a was that he his on for had as by with it at were which be not this from quote one is or
oswald but have been an who him two they i all when three their end no there president time after would other
more are these her she twenty so them into any its about some out made only man five could nineteen first
sixty service has newgate four prison commission found up before also did dallas upon said prisoners than new
eighteen where secret mrs such house most police mr will many should assassination if while hundred under
then same great still through might part those very left years rifle may six however day you street long much
testified november we life because eight now down work thirty taken fbi over saw building city seven another
himself during well own floor must right without side jail kennedy between lee came car pounds what last old
number people case agents even nine way my back told although second thousand our information place against
general went office never public once death each being both marina ten report men within fifty whole took
every agent used state evidence me like passed again body certain forty known can good do presidential make
court law too name wife others several little few fact government room motorcade brought asked since later
night thus front called large committee soviet feet white babylon point states just get united year until
whether twelve come fired became use whom hand system governor officers thought morning cases present paper
shots take return having order go execution given murder set next door along according act heard depository
home prisons shot special person almost days seen among agencies further texas small fifteen probably orleans
attempt half followed head union persons approximately possible money far off stated means already window
vice local soon often kept visit walls carried federal country route say crime got less received gave tried
bag condemned yet chief debtors yard whose bank testimony wall animals criminal give nothing chapter prisoner
here committed trial london necessary period sentence following away school cuba security latter protection
together various want themselves shooting full book harvey toward appeared minutes nor paine light see always
form done sent plants department provided business times obtained friends put described high near cells
employment letter know either third inspectors crowd ever purpose considered power food party elm area open
hands apparently escape seventy continued character least corner activities course immediately except dr
england close therefore charge nearly interest female admitted field water jails members returned trip
generally husband placed quite how important find better attention am convicted scene capital actually paid
practice west arrested box fair plan identified above arrest identification making secretary turned american
hospital kind question wanted till sometimes society led trade view early required press officer family
william condition national sentenced follow john personal buildings lord investigation october going tippit
frazier though play seventeen held marine guilty employed labor authorities months prs arrived short seemed
sixth world best enough discipline danger main shall clear letters advance living named discovered animal
mother complete bus rather looked baker rear punishment greater result position common established weapon
began section action measures provide woman brown matter think basis neither truly hours march alone wards
ward effect introduced account picture remained communist duty efforts us fully jacket august doubt inches
mind met facts occasion responsibility hosty similar connally outside poor indicated sufficient entirely
walker type does help words hour fell photographs forged note description ordinary bad age ran robert behind
entered black able answer father indeed fourteen face enforcement week arrangements radio lived prior private
officials johnson plant strong your fibers bureau amount concluded young stock why beyond individual greatly
watch subject air rest wrote protective eighty brother possession really anything turn post become reached
houston miss authority revolver green conditions particularly congress sought crimes change didn't frequently
leave rooms permitted around george particular gold chapel hope attempted eleven limited moment king bed
captain children powers bullet washington constitution proved shown modern appear proper concerned knew sir
books itself appears cannot shirt instructions standing assistance women believe cell written lawson lost
north declared intelligence seconds reason expressed funds turner central history april station opinion
occurred occupied streets seat transportation gun line wakefield noted gallows oh middle forgery free keep
story prepared pistol male let blanket parts top built length irving force june looking statement value
reported inmates look fire felt walked allowed leaving former request convicts association ground access town
contained none agency involved hard visited forward corps observed political stood something job bailey acts
wound love cut due intended carry says added employees especially caused nature justice situation late south
throughout hit concerning distance perhaps worth thirteen space moved experience effort seems rule decided
shillings per longer issued charged different felons fourth gone justices blood including immediate
recognized language spent separate future obtain mart treasury difficult bring duties extent test call
running clerk problems criminals hidell closely past east examination suffered crowded program previous
energy lodged evening idea directly executed assassin hair shortly serious brennan offered eyes manner
claimed determined lay knowledge remain strongly regular below real desire transfer denied volume agreed
evils september pass afternoon ill material oxygen ninety appointed couple notes determine finally moreover
fellow detail offense prints show class discharge york drawn de laid address whatever places across interview
mentioned worst gates deal date regards fritz learned century jury need specific elevator block amendment
iron worked russia wearing nebuchadnezzar read advised bread assistant referred lot circumstances witnesses
visitors higher pay square medical removed engaged relief firm eventually recovery planned available ship
struck palace group strange example penalty potential passing company working difficulty supposed based
additional refused connection relations showed beckley afterwards goods lineup victim stolen taking lower
live spite considerable meet defense carrying carefully beginning patton treatment sum lunchroom easily board
daily printed ready clothes army responsibilities usual conversation fall river instead started steps courts
carbon calcraft suggested
""".split()
)
