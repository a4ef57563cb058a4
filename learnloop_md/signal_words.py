"""The words a person corrects or confirms with: tables, each row with its reason. Code that reads them: signals.py.

Patterns meet text in lower case with straight quotes, without code, quotations and pasted lines. Apostrophes may be missing.
"""

from typing import NamedTuple


class Rule(NamedTuple):
    """A pattern, where it counts, and why it is one.

    Where: "turn" at the beginning of the turn, "sentence" at the beginning of a sentence, "any" within one;
    "strong" within a sentence of a long turn too.
    """

    pattern: str
    where: str
    reason: str


# Said in front of what is meant; taken away before a pattern looks at the beginning.
OPENERS = (
    r"ok(?:ay)?|k|hm+|hmm+|ah+|oh|uh|um+|hey|hi|hello|so|and|but|also|well|please|pls|sorry|thanks?(?: you)?|thx|lol|haha|omg"
    r"|ugh|sigh|argh|yes|yeah|yep|sure|right|cool|great|nice|good|perfect|looks? (?:good|ok|fine)|looks good overall|wait"
    r"|hold on|sir|man|dude|claude|one (?:more )?thing|just|again|bitte|por favor|s'il (?:te|vous) pla[iî]t|ja|oui|s[ií]|sim"
)

# Look like corrections and are none: such a phrase is taken out before anything is looked for.
HARMLESS = (
    (
        r"no (?:problems?|worries|idea|need|rush|hurry|thanks?|thank you|kidding|way|doubt|wonder|biggie|clue|matter|prob)\b",
        "phrases",
    ),
    (
        r"no,? (?:that'?s|that is|it'?s|we'?re|i'?m|all|everything(?:'s| is)?) (?:all|it|fine|good|ok(?:ay)?|right|great|done)\b",
        "satisfied",
    ),
    (r"nope?,? (?:all good|nothing|i'?m good|we'?re good|go ahead)\b", "satisfied"),
    (r"(?:never ?mind|nvm)\b", "takes back the person's own words"),
    (r"(?:don'?t|do not) (?:worry|bother|hesitate|forget|mind|panic|rush|hurry)\b", "encouragement, reminders"),
    (
        r"(?:i|we|they|you) (?:don'?t|do not) (?:know|think|see|understand|get|care|remember|mind|have|need|really)\b",
        "of the speaker",
    ),
    (
        r"something(?:'?s| is| went)? wrong\b|what(?:'?s| is| went) wrong\b|(?:goes|went|go|going|gone|if) wrong\b|wrong with\b",
        "a symptom",
    ),
    (
        r"not (?:sure|yet|bad|really sure|necessarily|only|a problem|an issue|urgent|now|in love)\b",
        "no judgement of the work",
    ),
    (r"my (?:mistake|bad|fault)\b.*", "the person's own mistake"),
    (r"(?:kein problem|keine (?:ahnung|sorge|eile)|nein,? danke|nicht n[oö]tig)\b", "German"),
    (r"(?:non,? merci|pas de (?:probl[eè]me|souci)|pas besoin)\b", "French"),
    (r"no (?:hay|pasa|importa|te preocupes|gracias)(?: (?:problema|prisa|nada))?\b|no,? gracias\b", "Spanish"),
    (r"(?:sem problemas?|n[aã]o,? obrigad[oa]|n[aã]o (?:tem problema|precisa|se preocupe))\b", "Portuguese"),
    (r"(?:nessun problema|no,? grazie|non (?:importa|ti preoccupare))\b", "Italian"),
)

CORRECTIONS = (
    Rule(r"(?:no+|nope|nah|nein|non|n[aã]o|nee)(?: no)*(?=[,.!:;]|$)", "turn", "a plain no"),
    Rule(
        r"(?:no|nope|nah)(?= (?:i|it|that|this|you|we|they|the|use|not|don'?t|do|stop|wait|go|put|keep|leave|only|just|make|it'?s|that'?s)\b)",
        "turn",
        "no, and what is so instead",
    ),
    Rule(r"no (?:new |more )?[\w-]+ (?:in|here|please|pls|anywhere|ever|at)\b", "turn", "forbids a thing"),
    Rule(
        r"(?:(?:that|this|it|they|those|you)(?:'?s|'?re| is| are| was| were| looks?)? )?(?:still |all |completely |totally |just |simply |the )*(?:wrong|incorrect)\b",
        "sentence",
        "says it is wrong",
    ),
    Rule(
        r"(?:is|are|was|looks|'s) (?:still |just |plain |simply |the )?(?:wrong|incorrect|misleading|unacceptable)\b",
        "any",
        "says it is wrong",
    ),
    Rule(
        r"(?:not|never|isn'?t|wasn'?t|n'?t) (?:at all )?(?:what|how|the way|where) (?:i|we)\b",
        "strong",
        "not what was asked",
    ),
    Rule(
        r"not (?:right|correct|true|ok(?:ay)?|acceptable|allowed|good enough)\b|(?:can'?t|cannot) be right\b",
        "any",
        "not right",
    ),
    Rule(
        r"i (?:meant|mean|told you|said|asked (?:you )?(?:for|to)|never (?:asked|said)|only (?:wanted|asked|meant)|wanted)\b",
        "sentence",
        "comes back to what was said",
    ),
    Rule(
        r"(?:as )?i (?:already )?(?:told you|did(?:n'?t| not) (?:ask|say|mean|want))\b",
        "strong",
        "comes back to what was said",
    ),
    Rule(r"(?:don'?t|do not|never|quit \w+ing|avoid)\b", "sentence", "forbids a way of working"),
    Rule(r"(?:please|pls|so|and|but) (?:don'?t|do not|never)\b", "any", "forbids a way of working"),
    Rule(r"stop(?:$|[,.!]| (?:doing|that|it|this|\w+ing)\b)", "turn", "makes it stop"),
    Rule(
        r"(?:use|take|try|do|make|put|write|call|prefer|run|go with|pick)\b.{1,60}\b(?:instead|rather than|and not)\b",
        "sentence",
        "the other thing instead",
    ),
    Rule(r"(?:use|take|go with|pick|cache|put|call|name)\b.{1,40}?,? not\b", "sentence", "this, not that"),
    Rule(r".{2,60}, not (?!only|sure|yet|just)\S.{0,40}$", "turn", "this, not that"),
    Rule(r"not (?!that|to worry|too)\S.{0,30}, ", "turn", "not that, this"),
    Rule(
        r"actually,? (?!can|could|would|also|let|one more|what|how|why|i\b|while|now|next|yes|good|nice|great)",
        "turn",
        "puts a fact right",
    ),
    Rule(
        r"you(?:'ve| have)? (?:forgot|missed|broke|overwrote|deleted|removed|ignored|skipped|misunderstood|misread|left out|again|keep \w+ing|still|lost|cut)\b",
        "sentence",
        "blames what was done",
    ),
    Rule(
        r"you (?:should(?:n'?t| not)?(?: have)?|were(?:n'?t| not)? supposed|must(?:n'?t| not)|are(?:n'?t| not)? supposed|didn'?t|did not)\b",
        "sentence",
        "blames what was done",
    ),
    Rule(
        r"why (?:did|do|are|would|have) you (?:keep|again|still|always|just|even|not|delete|remove|overwrite|touch|ignore|break|change|skip|revert|undo|rename|commit|push)",
        "sentence",
        "a question that blames",
    ),
    Rule(
        r"(?:it|that|this|they|those|these|there) (?:should(?:n'?t| not)?|must(?:n'?t| not)?|ha(?:s|ve) to|needs? to|(?:was|were|is|are) supposed to)\b",
        "sentence",
        "how it should be",
    ),
    Rule(r"should(?:n'?t| not)? have\b|ha(?:s|ve) to be\b", "any", "how it should have been"),
    Rule(
        r"we (?:don'?t|do not|never|always|only|no longer|already have|got rid of)\b", "sentence", "a rule of the house"
    ),
    Rule(r"we (?:use|have|prefer|support)\b", "turn", "a rule of the house"),
    Rule(r"(?:always|from now on|next time|in (?:the )?future)\b", "sentence", "a rule for the next time"),
    Rule(
        r"(?:revert|undo|redo|rename) (?:that|it|this|your|those)\b|(?:put|change|take|move|roll|turn) (?:it|that|this|them)(?: \w+)? (?:back|out)\b",
        "sentence",
        "takes it back",
    ),
    Rule(r"(?:the )?(?:other|wrong) way (?:a)?round|the opposite\b", "turn", "the opposite"),
    Rule(r"(?:leave|keep) .{1,40} (?:alone|as (?:it|they) (?:is|are|was|were))\b", "any", "hands off"),
    Rule(
        r"(?:(?:that|this|it)(?:'?s| is) |[\w ]{1,20} is )?(?:way |much |far |a bit |still )?too \w+",
        "turn",
        "too much or too little",
    ),
    Rule(
        r"makes no sense|does(?:n'?t| not) make (?:any )?sense|still (?:not|the same|broken)\b",
        "sentence",
        "not accepted",
    ),
    # German, French, Spanish, Portuguese, Italian, Dutch
    Rule(
        r"(?:das|dies) (?:ist|war|stimmt) (?:so )?(?:falsch|nicht)|falsch\b|nicht so\b|stattdessen\b|ich (?:meinte|habe (?:dir )?gesagt)|lass das\b|(?:bitte )?(?:kein|keine|nie|niemals) ",
        "sentence",
        "German",
    ),
    Rule(
        r"(?:c'est|c'[eé]tait) (?:faux|pas (?:[cç]a|ce que))|ce n'est pas\b|je voulais dire|arr[eê]te|(?:utilise|prends)\b.{1,40}(?:plut[oô]t|[aà] la place)|pas de nouvel|pas comme [cç]a|jamais ",
        "sentence",
        "French",
    ),
    Rule(
        r"(?:eso|esto) (?:est[aá] mal|no es)|est[aá] mal\b|no (?:us|hag|toqu|cambi|borr)(?:a|as|es|e)\b|quise decir|(?:usa|utiliza)\b.{1,40}en (?:vez|lugar)|te dije|deja de ",
        "sentence",
        "Spanish",
    ),
    Rule(
        r"(?:isso|isto) (?:est[aá] errado|n[aã]o [eé])|est[aá] errado|eu quis dizer|(?:use|usa)\b.{1,40}em vez|n[aã]o (?:use|fa[cç]a|mexa|apague)|eu (?:te )?disse|pare de ",
        "sentence",
        "Portuguese",
    ),
    Rule(
        r"(?:[eè]|questo [eè]) sbagliato|sbagliato\b|intendevo|non (?:usare|toccare|fare)\b|(?:usa)\b.{1,40}invece",
        "sentence",
        "Italian",
    ),
    Rule(r"(?:dat|dit) (?:is|klopt) (?:fout|niet)|fout\b|ik bedoelde|gebruik\b.{1,40}in plaats", "sentence", "Dutch"),
)

# A turn that begins so gives a new task; only what is strong, or comes first, corrects there.
TASKS = (
    r"(?:can|could|would|will) you|let'?s|i (?:need|would like|'?d like|want) |add|write|create|implement|build|load|go through|explain"
    r"|summari[sz]e|list|find|review|look|check|read|show|tell|generate|set up|refactor|translate|schreib|erstelle|[eé]cris|escribe|crea|escreva"
)

# What an assistant says when it chose what was not obvious.
CHOICE = (
    r"instead of|rather than|(?:went|going|go) (?:with|for)|cho(?:se|ose|sen)|decided|picked|opted|preferred|on purpose|deliberately|over (?:a|the|an)\b"
    r"|statt|anstatt|entschieden|gew[aä]hlt|plut[oô]t que|au lieu de|choisi|d[eé]cid[eé]|en (?:vez|lugar) de|eleg[ií]|decid[ií]|em vez de|escolhi|invece di|scelto|in plaats van|gekozen"
)

# A yes that means it: counts after such a choice.
PRAISE = (
    r"exactly|perfect|(?:that'?s|this is|that is|that was) (?:it|right|the (?:way|right)|how|what|good|great|exactly)|you'?re right|spot on|good (?:call|choice|thinking|idea|decision)"
    r"|great (?:call|choice|thinking|idea|decision)|(?:right|smart) (?:call|choice|move)|smart|love (?:it|that|this)|well (?:chosen|done)|agreed|i (?:like|love|agree)|keep (?:it|that|this|doing|using)|stick with"
    r"|genau|perfekt|richtig|so soll es|gut so|exactement|parfait|c'est (?:[cç]a|bien)|exacto|perfecto|as[ií] est[aá] bien|exato|perfeito|isso mesmo|esatto|perfetto|precies|klopt"
)

# Asks outright for the same again: counts without knowing what was chosen.
KEEP = r"keep (?:on )?(?:doing|using|writing|explaining|working|naming) (?:it |them )?(?:that|this|so|like|the same)|(?:always|please) do (?:it|that) (?:like|that|this)|do (?:it|that) (?:that|this) way"
