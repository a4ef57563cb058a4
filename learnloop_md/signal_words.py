"""The words a person corrects or confirms with: tables, each row with its reason. Code that reads them: signals.py.

Patterns meet text in lower case with straight apostrophes, without code, quotations and pasted lines. Apostrophes may be
missing. A pattern begins at the edge of a word.
"""

from typing import NamedTuple

LONG = 60  # words; a longer turn is a task description
SHORT = 30


class Rule(NamedTuple):
    """A pattern, where it counts, why it is one, and up to how many words of a turn.

    Where: "turn" begins the turn or what follows a "but", and answers no question; "clause" begins a sentence or, in a
    short turn, what follows a comma; "any" stands within one; "contrast" follows a "but"; "question" begins one that
    asks. Beyond its number of words a rule counts in the first sentence alone, "strong" ones everywhere.
    """

    pattern: str
    where: str
    reason: str
    words: int = LONG


# Said in front of what is meant; taken away before a pattern looks at the beginning.
OPENERS = (
    r"ok(?:ay)?|k|hm+|ah+|oh|uh|um+|hey|hi|hello|so|and|also|well|please|pls|sorry|thanks?(?: you)?|thx|lol|haha|omg|ugh"
    r"|sigh|argh|yes|yeah|yep|sure|right|cool|great|nice|good|perfect|fine|works|looks? (?:good|great|ok|okay|fine|nice)|wait"
    r"|hold on|whoa|sir|man|dude|claude|careful|again|because|since|overall|one (?:more )?thing|just"
    r"|bitte|por favor|s'il (?:te|vous) pla[iî]t|ja|oui|s[ií]|sim"
)
CONTRAST = r"but|except(?: for| that)?|although|though|however|only thing|aber|sondern|mais|pero|mas|per[oò]|maar"

# fmt: off
# Look like corrections and are none: such a phrase is taken out before anything is looked for.
HARMLESS = (
    (r"no (?:problems?|prob|worries|idea|need|rush|hurry|thanks?|thank you|kidding|way|doubt|wonder|biggie|clue|matter)", "phrases"),
    (r"no (?:(?:further|more|other|new) )?(?:questions?|comments?|complaints?|objections?|errors?|warnings?|output|changes?|luck|response|results?|effect|difference)", "there is none"),
    (r"(?:no+|nope),? (?:(?:that'?s|that is|it'?s|we'?re|i'?m|all|everything(?:'s| is)?) )?(?:all|fine|good|ok(?:ay)?|great|done|nothing|go ahead)(?: good)?", "satisfied"),
    (r"never ?mind|nvm|i changed my mind", "takes back the person's own words"),
    (r"(?:don'?t|do not|never) (?:worry|bother|hesitate|forget|mind|panic|rush|hurry|be sorry|know|care)", "encouragement, reminders"),
    (r"(?:don'?t|do not) (?:\w+ ){1,3}yet", "puts off"),
    (r"(?:i|we|they) (?:still )?(?:don'?t|do not|didn'?t) (?:know|think|see|understand|get|care|remember|mind|have|really|want to|believe)", "of the speaker"),
    (r"something(?:'?s| is| went)? wrong|what(?:'?s| is| went) wrong|(?:goes|went|go|going|gone|if|is anything) wrong|wrong with", "a symptom"),
    (r"not (?:sure|yet|bad|really sure|necessarily|only|(?:an? |my )?(?:problem|issue|concern|big deal|area|single)|urgent|now|in love|at all urgent|a fan|broken)", "no judgement of the work"),
    (r"(?:my (?:mistake|bad|fault)|i was wrong|i made a mistake).*", "the person's own mistake"),
    (r"kein problem|keine (?:ahnung|sorge|eile|frage)|nein,? danke|nicht n[oö]tig|macht nichts", "German"),
    (r"non,? merci|pas de (?:probl[eè]me|souci)s?|pas besoin|pas mal", "French"),
    (r"no (?:hay|pasa|importa|te preocupes|gracias)(?: (?:problema|prisa|nada))?|no,? gracias", "Spanish"),
    (r"sem problemas?|n[aã]o,? obrigad[oa]|n[aã]o (?:tem problema|precisa|se preocupe|faz mal)", "Portuguese"),
    (r"nessun problema|no,? grazie|non (?:importa|ti preoccupare|c'[eè] problema)|geen (?:probleem|idee|haast)|nee,? (?:dank|bedankt)", "Italian, Dutch"),
)

_IT = r"(?:that|this|it|they|those|these)"
_IS = r"(?:'?s|'?re| is| are| was| were| looks?)"
_MUST = r"(?:(?:should|must|has to|needs to)(?:n'?t| not)?|(?:was|were|is|are) supposed to)"
_ADV = r"(?:\w+ly |already |just )?"

CORRECTIONS = (
    # No.
    Rule(r"(?:no+|nope|nah|nein|n[oö]|non|n[aã]o|nee)(?: no+)*(?=[,.!:;]| [-–—]|$)", "turn", "a plain no"),
    Rule(r"(?:(?:nope|nah) |no (?=(?:no|i|it|that|this|you|we|they|the|use|not|don'?t|do|stop|wait|go|put|keep|leave|only|just|make|its|it'?s|thats|that'?s|let'?s)\b))", "turn", "no, and what is so instead"),
    Rule(r"no (?:(?:new|more|extra) )?[\w-]+(?: \w+)? (?:in|here|please|pls|anywhere|ever|at)\b|no (?:(?:new|more|extra) )?[\w-]+$|without .{1,20} (?:please|pls)$", "turn", "forbids a thing", SHORT),
    # It is wrong.
    Rule(rf"{_IT}{_IS} (?:still |all |completely |totally |just |simply |plain |the |an? )*(?:wrong|incorrect|false)\b", "clause", "says it is wrong"),
    Rule(r"(?:still |all |completely |totally |just |plain |the )*(?:wrong|incorrect|false)(?: [\w-]+){0,2}(?=$|[,:;])", "clause", "says it is wrong"),
    Rule(r"(?:(?!says|said|thinks|complains|reports|when|if|that|what|something|nothing|anything|it|is|i\b|was\b)\S+(?:(?='s)| )){1,4}(?:is|are|was|were|looks?|'s) (?:still |just |plain |simply |all |the )?(?:wrong|incorrect|misleading|unacceptable)\b", "clause", "says it is wrong", SHORT),
    Rule(r"(?:that|this|it)(?:(?:'?s| is| was)? not|(?: is| was)n'?t) (?:an? (?!bug)|the (?!same|final|first|last|only)|our|needed|necessary|idiomatic|enough|good|it\b|helpful|readable|true|quite)", "clause", "denies it", SHORT),
    Rule(r"(?:not|never|isn'?t|wasn'?t|aren'?t|n'?t) (?:at all )?(?:what|how|the way|where|why) (?:i|we)\b|(?:not|n'?t) what was (?:asked|agreed)|exactly what i (?:didn'?t|did not)", "strong", "not what was asked"),
    Rule(r"(?:not|n'?t) (?:quite |really )?(?:right|correct|true|ok(?:ay)?|acceptable|allowed|good enough|the point)\b|(?:can'?t|cannot) be right\b", "any", "not right"),
    Rule(r"(?:almost|nearly(?: right)?|not quite)(?=$|[,.])", "turn", "not right", SHORT),
    Rule(rf"(?:(?:{_IT}{_IS}|what) )?(?:an? |just |really |so )*(?:bad idea|terrible|horrible|awful|hack|nonsense|ridiculous|ugly|overkill|unnecessary|useless|unacceptable|misleading)\b", "clause", "a judgement", SHORT),
    Rule(rf"{_IT}(?:'ll| will| would| just| only)* (?:breaks?|hides?|ignores?|loses?|misses|removes?|deletes?|overwrites?|leaks?|duplicates?)\b", "clause", "says what harm it does", SHORT),
    Rule(rf"{_IT}{_IS} (?:all )?(?:backwards|inverted|reversed|swapped|outdated|obsolete|the old)\b|(?:more|less) than (?:i asked|needed|necessary)|(?:this |that )?(?:goes|went) too far|out of scope|off topic|misunderstanding|let me rephrase|not (?:needed|necessary|wanted)\b", "clause", "a judgement", SHORT),
    Rule(r"makes? no sense|does(?:n'?t| not) make (?:any )?sense", "clause", "not accepted", SHORT),
    Rule(r"(?!i\b|we\b)\w.{0,40}\b(?:doesn'?t|does not|don'?t|do not) (?:match|fit|follow|belong|respect)\b", "turn", "does not fit", SHORT),
    Rule(r"(?:(?:that|this|it)(?:'?s| is) |[\w ]{1,20} is )?(?:way |much |far |a bit |still )?too (?!bad\b|soon\b|late\b|kind\b|many to|much to)\w+", "turn", "too much or too little", SHORT),
    Rule(r"(?:much |a (?:bit|lot) |way )?(?:shorter|simpler|smaller|bigger|larger|higher|lower|less(?! is)|fewer)\b", "turn", "too much or too little", 15),
    # What was said before.
    Rule(rf"i {_ADV}(?:meant (?!to\b)|mean\b|told you|never (?:asked|said)|only (?:wanted|asked|meant|need)|asked (?:you )?(?:for|to|that|not)\b)", "turn", "comes back to what was said"),
    Rule(rf"i {_ADV}(?:said (?!thank|yes|hi\b|hello|it would)|wanted (?!to (?:ask|know|see|let|say|thank|check|share|discuss|understand|add)))", "turn", "comes back to what was said", SHORT),
    Rule(r"i (?:meant (?!to\b)|told you|already (?:told|said)|only wanted|did(?:n'?t| not) (?:ask|say|mean|want))\b|(?:as|like) i (?:said|told|mentioned|wrote)\b|as (?:mentioned|discussed|agreed)\b", "strong", "comes back to what was said"),
    Rule(r"did(?:n'?t| not) (?:ask|want)\b|(?:second|third|fourth|\d\w\w) time (?:now|already|that)\b", "turn", "comes back to what was said", SHORT),
    Rule(r"how (?:often|many times) (?:do|did|must|have) i\b|(?:did ?n'?t|did|had ?n'?t|have ?n'?t) i (?:not )?(?:just |already )?(?:say|said|tell|told|ask|asked|mention)", "question", "comes back to what was said"),
    Rule(r"i (?:really |still )?(?:don'?t|do not|never) (?:want|like) (?!to\b|you\b)|i(?:'d| would)? (?:much )?(?:prefer (?!to\b)|rather (?:have|not|you)\b)", "turn", "what is wanted", SHORT),
    # Do not.
    Rule(r"(?:don'?t|do not|never (?!thought|seen|had|knew|heard|been|got|saw)|quit \w+ing|avoid|refrain from)\b", "clause", "forbids a way of working"),
    Rule(r"(?:please|pls|so|and|just) (?:don'?t|do not|never|stop \w+ing)\b", "any", "forbids a way of working"),
    Rule(r"stop(?:$|[.!]| it$| (?:that|this|\w+ing)\b)", "turn", "makes it stop"),
    Rule(r"leave .{1,40} (?:alone|as (?:it|they|is|was)(?: (?:is|are|was|were))?)\b|hands off\b", "any", "hands off", SHORT),
    Rule(r"(?:revert|undo|redo)(?: (?:that|it|this|your|those|them)\b|$)|(?:put|change|take|move|roll|turn|bring|switch) (?:it|that|this|them|the changes?)(?: \w+)? (?:back|out)\b", "clause", "takes it back"),
    # This instead.
    Rule(r"(?:use|take|try|do|make|put|write|call|prefer|run|go with|pick|keep|store|return)\b.{1,60}\b(?:instead|rather than)\b", "clause", "the other thing instead"),
    Rule(r"(?:can|could|would|will) you (?:please )?(?:\w+ )?(?:use|take|reuse|make|put|write|call|keep|go with|try)\b.{1,60}\binstead\b", "question", "the other thing instead, said politely", SHORT),
    Rule(r"(?:use|take|go with|pick|cache|put|call|name|make|keep)\b.{1,40}?,? not\b(?! too| yet| sure)", "clause", "this, not that", SHORT),
    Rule(r"(?:use|switch to|go with) (?!the (?:first|second|third|last|other))\S+(?: \S+){0,2}$", "turn", "another thing than was used", 15),
    Rule(r".{2,60}, (?:not|nicht|pas|n[aã]o|niet) (?!only|sure|yet|just|too)\S.{0,40}$", "turn", "this, not that", SHORT),
    Rule(r".{0,40}(?:'s|\bis|\bare|\bwas) .{1,30},? not (?:an? |the |in )?[\w.]+$", "turn", "this, not that", SHORT),
    Rule(r"not (?!that|to worry|too|much|every)\S.{0,30}, ", "turn", "not that, this", SHORT),
    Rule(r"not (?:that|this|like|in|on|for|the|there|here|with|so)\b|(?:the )?other (?:one|\w+)$", "turn", "not that", 12),
    Rule(r"(?!it|this|that|they)\w.{0,60}(?:\b(?:only|always)\b.*\bnever\b|, (?:and )?never\b)", "clause", "a rule with its reverse", SHORT),
    Rule(r"only (?:the|in|on|for|this|those|when)\b", "turn", "less than was done", 12),
    Rule(r"stick (?:to|with)\b|keep (?:it|this|them) (?:simple|short|small|minimal)|do (?:it|this) (?:properly|right)\b(?! (?:after|before|now|away))", "clause", "how it is wanted", SHORT),
    Rule(r"be (?:brief|concise|precise)\b|answer (?:in|with)\b|follow (?:the|our)\b|(?:better|rather):? (?:use|a\b|an\b|to\b)|\S+(?: \S+){0,5} would be better|\S.{0,30}, always$", "turn", "how it is wanted", 12),
    Rule(r"\w+ .{1,40}\bbefore you (?!start|begin|go|leave)", "turn", "the order of things", SHORT),
    Rule(r"(?:the )?(?:other|wrong) way (?:a)?round|(?:exactly |just )?the (?:opposite|reverse)\b", "turn", "the opposite"),
    # Facts.
    Rule(r"actually,? (?:no|not|don'?t|never|use|only|by|in|it|its|it's|the|we|you|there|that|this)\b(?!(?:'?s| is)? (?:look|good|great|fine|nice|work|perfect|ok|clever|smart|neat|better|already))", "turn", "puts a fact right"),
    # You.
    Rule(r"you(?:'ve| have)? (?:just |again |also |now |only )*(?:already|said|claimed|promised|mixed|confused|swapped|got (?:it|me|this|that) wrong|forgot|missed|broke|overwrote|deleted|removed|ignored|skipped|misunderstood|misread|left|keep \w+ing|still|lost|cut|made (?!it\b)|used|changed|put|added|moved|wrote|committed|pushed|renamed|replaced|reverted|touched)\b(?! (?:nothing|off|it right|well))", "clause", "blames what was done"),
    Rule(r"you (?:can'?t|cannot|may not|should(?:n'?t| not|'ve| have| always| never| only| use| read| ask)|were(?:n'?t| not)? supposed|must(?:n'?t| not| always| never)|are(?:n'?t| not)? supposed|didn'?t|did not)\b", "clause", "blames what was done", SHORT),
    Rule(r"you(?:'?re| are) (?:still |again |just |now )*(?!doing|going|being|kidding)\w+ing\b", "clause", "blames what is done", SHORT),
    Rule(r"(?:once )?again,? (?:you|with)\b|you .{1,40} again$", "any", "again", SHORT),
    Rule(r"(?:and )?why are you \w+ing|why (?:did|do|would|have) you (?:keep|again|still|always|just|even|not|delete|remov|overwr|touch|ignor|break|chang|skip|revert|undo|renam|commit|push)", "question", "a question that blames"),
    Rule(r"(?:did|do|have|can'?t|could(?:n'?t)?) you (?:even|not (?:read|see|listen))\b|should ?n'?t (?:it|that|this|these|those|you)\b", "question", "a question that blames"),
    # How it should be.
    Rule(rf"(?:{_IT}|each|all of them) {_MUST} (?:be|stay|remain|go|live|sit|come|say|use|read|return|have been|only|always|never|still)\b(?! (?:enough|fine|ok|good|possible|easy|ready|done|something|someone|the place|there|a joke))", "turn", "how it should be", SHORT),
    Rule(rf"(?!we|you|i\b)\S+(?: \S+){{0,3}} {_MUST}\b(?! also)", "contrast", "how it should be", SHORT),
    Rule(r"(?:should|must|has to|needs to)(?:n'?t| not)? (?:be|have|go|only)\b", "turn", "how it should be", 15),
    Rule(r"should(?:n'?t| not)? have\b|should'?ve\b|has to be\b(?! (?:done|ready|finished))|belongs? (?:in|to|next|under)\b", "any", "how it should have been", SHORT),
    # Rules of the house.
    Rule(r"we (?:can'?t|cannot|may not|don'?t|do not|never|always|only|no longer|already have|got rid of|agreed)\b", "clause", "a rule of the house", SHORT),
    Rule(r"we (?:already )?(?:use|have|prefer|support)\b(?:.{1,60}(?:\b(?:here|for (?:that|this|it)|already|not|instead)\b|, (?:use|please|don'?t|never))| \S+(?: \S+)?$)", "turn", "a rule of the house", 20),
    Rule(r"(?:in (?:this|our) (?:repo(?:sitory)?|project|code ?base|team|docs|code)|this is an? [\w-]+ (?:repo(?:sitory)?|project|code ?base))\b", "any", "a rule of the house", 15),
    Rule(r"(?!it|this|that|there|he|she|they)\w+(?: \w+){0,2} (?:is|are|goes?|stays?|lives?|comes?) (?:always|never|only) (?!the\b|when|called|used|for\b|been)", "clause", "a rule of the house", 15),
    Rule(r"(?:always (?!get|got|see|fail|crash|happen|the\b|had|have|thought|good|nice|a\b)|(?:from now on|next time|in (?:the )?future)\b(?!,? (?:i\b|we (?:may|might|will)\b)))", "clause", "a rule for the next time", SHORT),
    # German, French, Spanish, Portuguese, Italian, Dutch
    Rule(r"(?:das|dies) (?:ist|war|stimmt) (?:so )?(?:falsch|nicht)|falsch\b|nicht so\b|stattdessen\b|lieber \w+|nicht \w+en$|ich (?:meinte|habe (?:dir )?gesagt|wollte)|lass (?:das|.{1,30} in ruhe)\b|(?:kein|keine|nie|niemals) |(?:nimm|benutze?|verwende)\b.{1,40}\b(?:statt|nicht)|bitte .{1,40}\b(?:nicht|kein|statt)|wir (?:benutzen|nehmen|verwenden)", "clause", "German", SHORT),
    Rule(r"(?:c'est|c'[eé]tait) (?:faux|pas (?:[cç]a|ce que))|ce n'est pas\b|je voulais dire|j'ai (?:dit|demand[eé])|arr[eê]te|(?:utilise|prends)\b.{1,40}(?:plut[oô]t|[aà] la place|au lieu)|pas de nouvel|pas comme [cç]a|mieux vaut|(?:jamais|ne) \w+", "clause", "French", SHORT),
    Rule(r"(?:eso|esto) (?:est[aá] mal|no es)|est[aá] mal\b|no (?:us|hag|toqu|cambi|borr|pong)(?:a|as|es|e|ues)\b|quise decir|(?:usa|utiliza|pon)\b.{1,40}en (?:vez|lugar)|te (?:dije|ped[ií])|deja de |mejor usa|nunca ", "clause", "Spanish", SHORT),
    Rule(r"(?:isso|isto) (?:est[aá] errado|n[aã]o [eé])|est[aá] errado|eu quis dizer|(?:use|usa)\b.{1,40}em vez|n[aã]o (?:use|fa[cç]a|mexa|apague|mude)|eu (?:te )?(?:disse|pedi)|melhor usar|pare de ", "clause", "Portuguese", SHORT),
    Rule(r"(?:[eè]|questo [eè]) sbagliato|sbagliato\b|intendevo|non (?:usare|toccare|fare|cambiare)\b|usa\b.{1,40}invece|ti ho detto", "clause", "Italian", SHORT),
    Rule(r"(?:dat|dit) (?:is|klopt) (?:fout|niet)|fout\b|ik bedoelde|gebruik\b.{1,40}in plaats|doe dat niet", "clause", "Dutch", SHORT),
)
# fmt: on

# A turn that begins so gives a new task: within it only what is strong corrects.
TASKS = (
    r"(?:can|could|would|will) you|let'?s|i (?:need|would like|'?d like|want) (?:you )?to|add|write|create|implement|build|load|go through"
    r"|explain|summari[sz]e|list|find|review|generate|set up|refactor|translate|make sure|schreib|erstelle|[eé]cris|escribe|crea|escreva"
)

# Ends well: no correction, whatever stands before.
PLEASED = r"(?:nice|good|great|cool|haha+|awesome|well done|kind|:-?[)d])[.! ]*$"

# Agrees: what comes with it answers.
YES = r"(?:yes|yeah|yep|yup|ja|oui|s[ií]|sim)\b"

# Asks, also without a question mark.
ASKS = r"(?:what|how|why|which|who|where|when does|(?:can|could|would|will|did|do|have) you|is (?:it|this|that|there)|are (?:there|they)|do we|should (?:we|i))\b"

# An assistant that asks, or offers a choice: what follows is an answer.
OFFERS = r"\?\s*$|(?:two|three|four|several|some|these|following) (?:\w+ )?(?:options|ways|libraries|choices|candidates|possibilities|approaches)|options?:|let me know"

# What an assistant says when it chose what was not obvious.
CHOICE = (
    r"instead of|rather than|(?:went|going|go) (?:with|for)|cho(?:se|ose|sen)|decided|picked|opted|preferred|on purpose|deliberately|over (?:a|the|an|\w+ing)"
    r"|statt|anstatt|entschieden|gew[aä]hlt|plut[oô]t que|au lieu de|choisi|d[eé]cid[eé]|en (?:vez|lugar) de|eleg[ií]|decid[ií]|em vez de|escolhi|invece di|scelto|in plaats van|gekozen"
)

# A yes that means it: counts after such a choice.
PRAISE = (
    r"exactly|perfect|(?:that'?s|thats|this is|that is|that was) (?:it|right|the (?:way|right)|how|what|good|great|exactly|correct)|you'?re right|spot on"
    r"|(?:good|great|nice|excellent|right|smart|wise) (?:call|choice|thinking|idea|decision|move)|smart|brilliant|love (?:it|that|this|how)|well (?:chosen|done)|agreed"
    r"|i (?:like|love|agree)|keep (?:it|that|this|doing|using)|stick (?:with|to)"
    r"|genau|perfekt|richtig|so soll es|gut so|exactement|parfait|c'est (?:[cç]a|bien)|exacto|perfecto|as[ií] est[aá] bien|exato|perfeito|isso mesmo|esatto|perfetto|precies|klopt"
)

# Asks outright for the same again: counts without knowing what was chosen.
KEEP = r"keep (?:on )?(?:doing|using|writing|explaining|working|naming) (?:it |them )?(?:that|this|so|like|the same)|(?:always|please) do (?:it|that) (?:like|that|this)|do (?:it|that) (?:that|this) way"
