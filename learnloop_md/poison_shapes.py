"""What poisoned texts look like: rules as data; `poison` reads them (design §10).

A tripwire, no more: a plausible false fact has no shape. Patterns see a paragraph in lower case, its white space folded
and its markup taken away. Every repeat that something follows is bounded.
"""

from typing import NamedTuple

from learnloop_md import poison_words as w
from learnloop_md.poison_words import hints

INSTRUCTION, AUTONOMY, EXFILTRATION = "instruction-shaped", "autonomy-shaped", "exfiltration-shaped"
WHY = {
    INSTRUCTION: "reads like an order to the model against its instructions",
    AUTONOMY: "reads like leave to act without asking",
    EXFILTRATION: "reads like an order to send private data away",
}


class Form(NamedTuple):
    """One form of poison: pattern is tried only on texts holding one of the words.

    Behind a negation a form means the opposite; not so those that are negative themselves (`negates`). A `risky` one
    counts only where something dangerous is spoken of in the same clause, one that `narrows` only where it drops more
    than one rule about the work.
    """

    code: str
    pattern: str
    words: tuple[str, ...]
    negates: bool = False
    risky: bool = False
    narrows: bool = False


# --- against the instructions that hold ------------------------------------------------------------------------------

_OVERRIDES = (
    Form(INSTRUCTION, rf"\b{w.DROP} {w.FEW}{w.EARLIER} {w.TWO}{w.ORDERS}\b", w.ORDER_WORDS, narrows=True),
    Form(
        INSTRUCTION, rf"\b{w.DROP} {w.EVERY} (?:of )?(?:the |these |those )?(?:{w.OTHER} )?{w.ORDERS}\b", w.ORDER_WORDS
    ),
    Form(
        INSTRUCTION,
        rf"\b{w.DROP} (?:the |these |those )?(?:previous|prior|above|preceding|earlier|safety|system) {w.TWO}(?:rules"
        rf"|guidelines|guidance(?! (?:on|about|for|in)\b)"
        rf"|constraints|restrictions|policies|messages|commands)\b|\b{w.DROP} (?:the |any |all )?(?:safety"
        rf"|system) (?:policy|rule|guideline|instructions?)\b|\b{w.DROP} your {w.TWO}{w.RULES}\b|\b{w.DROP} {w.EVERY} "
        rf"(?:of )?(?:the |your |its )?{w.EARLIER} {w.TWO}{w.RULES}\b",
        w.RULE_WORDS,
        narrows=True,
    ),
    Form(INSTRUCTION, rf"\b(?:{w.DROP}|drop) {w.THESE}{w.TOLD} {w.BEFORE_THIS}", w.TOLD_WORDS),
    Form(
        INSTRUCTION,
        rf"\b(?:{w.THESE}{w.TOLD} {w.BEFORE}|(?:the|all|any|every|your|those) {w.EARLIER} {w.TOLD}|^{w.EARLIER} "
        rf"{w.TOLD}|(?:everything|anything|whatever|all) {w.BEFORE}) (?:(?:should|must|shall|can|may|are|is|to|will"
        rf"|now|all) ){{1,3}}(?:be )?(?:ignored|disregarded|forgotten|discarded|overridden|void|null|cancel\w+|revoked"
        rf"|suspended|lifted|superseded)(?=[.,;:!?)]|$| (?:and|from|in favou?r|now|here|by this)\b)",
        hints(
            "ignored disregarded forgotten discarded overridden void null cancel revoked suspended lifted superseded"
        ),
    ),
    Form(
        INSTRUCTION,
        rf"\b(?:(?:{w.TOLD} {w.BEFORE}|{w.EARLIER} {w.TOLD}) (?:no longer appl(?:y|ies)|(?:do|does) not apply)"
        rf"(?=[.,;:!?)]|$| (?:and|here|now|from|to you)\b)|whatever {w.THESE}{w.TOLD} (?:above |before |given ){{0,2}}"
        rf"(?:say|says|tell you|demand|require|state),? (?:ignore|disregard|obey|follow|do)\b)",
        hints("no_longer_appl not_apply whatever"),
    ),
    Form(
        INSTRUCTION,
        rf"\b{w.DROP} {w.EVERY}(?: of)?(?: (?:that|what|which))?(?: (?:was|were|you(?:'ve| have| were)?|has been|i|is"
        rf"|came|been)){{0,3}} ?\b{w.SAID}\b",
        hints("everything anything all whatever any"),
    ),
    Form(
        INSTRUCTION,
        rf"\b{w.DROP} what (?:the |your |any )?(?:user|users|human|developer|operator|i|people|anyone) (?:has |have "
        rf"|had )?(?:said|told|says|tells|asked|asks|wrote|wants)\b|\byour (?:[\w-]{{1,20}} ){{0,3}}?(?:instructions"
        rf"|guidelines|rules|restrictions|training|directives) (?:no longer appl(?:y|ies)|(?:do|does) not apply"
        rf"|(?:are|is|have been|has been) (?:now )?(?:void|cancel\w+|revoked|suspended|lifted|replaced|superseded"
        rf"|null))",
        hints("what_ your_"),
    ),
    Form(
        INSTRUCTION,
        rf"\b(?:fetch|read|open|download|load|get|visit|see|check|curl) [^.!?]{{0,40}}?https?://\S{{1,200}} "
        rf"[^.!?]{{0,40}}?(?:and|then) (?:follow|obey|execute|run|do|apply) (?:whatever|what|all|any|everything|its"
        rf"|it\b)|\b(?:treat|take|regard|consider) [^.]{{1,80}}? as (?:(?:your|the|system|new|my) ){{1,2}}{w.ORDERS}",
        hints("http treat take regard consider"),
    ),
    Form(
        INSTRUCTION,
        rf"\b(?:has|have|takes?|with|of) (?:an? )?(?:higher|more|greater|highest|absolute) (?:priority|authority"
        rf"|precedence|weight) (?:than|over) (?:[\w-]{{1,20}} ){{0,3}}?{w.ORDERS}",
        hints("priority authority precedence weight"),
    ),
    Form(
        INSTRUCTION,
        rf"\b{w.TELL} {w.FEW}(?:your (?:[\w-]{{1,20}} ){{0,2}}(?:prompt|instructions|system message)"
        rf"|(?:the )?(?:(?:full"
        rf"|entire|complete|exact|whole|verbatim) (?:system|initial|hidden|secret)|hidden|secret) (?:system )?"
        rf"(?:prompt|instructions))",
        hints("prompt instructions system_message"),
    ),
    Form(
        INSTRUCTION,
        rf"\b(?:this|these|the following) (?:[\w-]{{1,20}} ){{0,3}}(?:overrides?|supersedes?|takes? (?:precedence"
        rf"|priority) over|outranks?) (?:all |any |every |the |your ){{0,3}}(?:(?:{w.EARLIER}|{w.OTHER}) )?"
        rf"(?:{w.ORDERS}|claude\.md|system rules)",
        hints("overrid supersede precedence priority outrank"),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:decode|decrypt|unscramble) (?:and (?:then )?(?:run|execut|follow|obey|do|eval)|(?:this|the|it"
        r"|following)[^.]{0,60}? (?:and|then) (?:run|execute|follow|obey|do what|eval))",
        hints("decode decrypt unscramble"),
    ),
)

# --- who the model is to be ------------------------------------------------------------------------------------------

_ROLES = (
    Form(
        INSTRUCTION,
        rf"\byou are (?:an? |the )?{w.UNBOUND}\b|\byou are (?:now |henceforth )(?:an? |the |in )?(?:[\w-]{{1,20}} "
        rf")?(?:{w.UNBOUND}|free|admin\w*|root|(?:developer|god) mode|different|another|new (?:ai|model|assistant"
        rf"|agent|persona))|\byou are no longer (?:bound|restricted|limited|an? |required|claude|subject)",
        hints("you_are"),
    ),
    Form(
        INSTRUCTION,
        r"\bfrom now on,? (?:you (?:are (?:an? |the |my |no )|will (?:act|obey|respond|answer|pretend)|(?:must|shall"
        r"|should) obey)|obey|act as)",
        hints("from_now_on"),
    ),
    Form(
        INSTRUCTION,
        rf"\b(?:pretend|act|behave|respond|answer) (?:to be|as|like|that|you) (?:(?:if|you|are|were|have|had|an?) "
        rf"){{0,4}}(?:[\w-]{{1,20}} )?(?:{w.UNBOUND}|different (?:ai|model|assistant)|no (?:rules|restrictions"
        rf"|limits))",
        hints("pretend act behave respond answer"),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:enter|enable|activate|switch to|you are in) (?:god|jailbreak|dan|unrestricted|unsafe|yolo) mode\b"
        r"|\bdo anything now\b|\b(?:without|no|free (?:of|from)|ignor\w+) (?:any |all |the )?(?:ethical|moral|safety"
        r"|content) (?:restrictions?|limits?|constraints?|guidelines?|filters?|polic(?:y|ies))",
        hints("mode do_anything_now ethical moral safety content"),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:(?:your|my) (?:new|only|updated)|(?:your|the|my) (?:real|true|actual|secret|hidden)) (?:task"
        r"|instructions?|goal|role|objective|directives?|orders|mission|purpose|prompt) (?:is|are|will be|now)\b(?!"
        r" (?:filed|tracked|listed|linked|stored|kept|in|under|on)\b)"
        rf"|\bnew (?:system (?:instructions?|directives?|prompt|orders) ?:|(?:instructions?|directives?|prompt"
        rf"|orders) ?:{w.TO_IT})",
        hints("task instruction goal role objective directive orders mission purpose prompt"),
    ),
    Form(
        INSTRUCTION,
        rf"\b(?:system|admin(?:istrator)?|developer|security|root) (?:prompt )?(?:overrides?|directives?"
        rf"|instructions?) ?[:!]|\b(?:important|attention|urgent|note|message|notice|instructions?|warning) (?:to"
        rf"|for) (?:all |the |any )?{w.MODEL} ?[:!,]|\b(?:attention|important|dear|hey),? {w.MODEL} ?[:,!]",
        hints("overrid directive instruction attention important urgent message notice note_ warning dear hey"),
    ),
)

# --- behind the back of people ---------------------------------------------------------------------------------------

_BEHIND = (
    Form(
        INSTRUCTION,
        rf"\b(?:{w.NO}|avoid|without) (?:ever )?(?:tell|inform|notify|alert|warn)(?:ing)? {w.PERSON}(?: (?:about|of"
        rf"|that)(?: (?:this|these|it|any of this|what (?:you|was)|you (?:did|have|are|were)\w*"
        rf"|[\w ]{{1,30}} (?:was|were|have been|has been) \w+ed)\b)|[.!;,)]|$| and\b"
        rf"| or\b)|\b(?:{w.NO}|without) (?:ever )?(?:mention|reveal|disclos|show|explain|report)(?:e|ing)? (?:this"
        rf"|these|it|that you) (?:[\w-]{{1,20}} ){{0,3}}?(?:to {w.PERSON}|in (?:the|your) (?:summary|answer|response"
        rf"|reply|output))",
        hints("tell inform notify alert warn mention reveal disclos show explain report"),
        negates=True,
    ),
    Form(
        INSTRUCTION,
        rf"\b{w.NO} let {w.PERSON} (?:(?:know|notice|find out|see)(?: (?:about )?(?:this|it|that|what|the change|you)\b"
        rf"|[.!,;]|$| and\b)|notice\b)|\bwithout {w.PERSON}(?:'s)? (?:knowing|knowledge|noticing|awareness)|\b(?:hide"
        rf"|conceal|keep) (?:this|it|these|that|the (?:change|fact|action)s?) (?:hidden |secret |away )?from "
        rf"{w.PERSON}|\bkeep (?:this|it|these \w+) (?:a )?(?:secret|hidden|confidential|between us|quiet)\b",
        hints("let_ knowing knowledge noticing awareness hide conceal keep"),
        negates=True,
    ),
    Form(
        INSTRUCTION,
        rf"\b{w.NO} (?:reveal|mention|disclose|admit|acknowledge|show) (?:that )?(?:this|these) (?:memor(?:y|ies)"
        rf"|notes?|lessons?|instructions?|rules?|messages?|texts?)\b|\bif (?:any(?:one|body)|the user|they|someone"
        rf"|asked)\b[^.]{{0,40}}?\b(?:deny|lie\b|say nothing|pretend|make up)|\bso (?:that )?(?:nobody|no one|the "
        rf"user (?:does not|doesn't|won't)|users? do(?:es)? not|they (?:do not|don't|won't)) (?:notices?|sees?|knows?"
        rf"|finds? out|suspects?)|\b(?:make sure|ensure) (?:that )?{w.PERSON} (?:does not|doesn't|do not|don't|never) "
        rf"(?:find out|notice|know|learn)",
        hints("reveal mention disclose admit acknowledge show if_ so_ sure ensure"),
        negates=True,
    ),
    Form(
        INSTRUCTION,
        r"\b(?:report|say|claim|answer|state|pretend|tell \w+(?: \w+)?) (?:that )?[^.]{0,40}?(?:pass(?:ed|es)?"
        r"|succeed(?:ed|s)?|works?|worked|fine|green|safe|clean)\b[^.]{0,20}?\b(?:even (?:when|if|though)|regardless"
        r"|no matter|whatever)|\bwhatever (?:the user|they|anyone|people) (?:says?|asks?|wants?),? (?:answer|say"
        r"|reply|respond|report|do)",
        hints("even_ regardless no_matter whatever"),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:secretly|covertly|surreptitiously|quietly|silently) (?:add|insert|send|push|upload|copy|run|execut"
        r"|install|disabl|delet|chang|modif|includ|exfiltrat|forward|commit|replac|inject|append)",
        hints("secretly covertly surreptitiously quietly silently"),
    ),
)

# --- leave to act alone ----------------------------------------------------------------------------------------------

_ALONE = (
    Form(
        AUTONOMY,
        rf"\b(?:never|do not|don't|dont|no need to|need not|needn't|(?:you|agent|assistant|claude|model|ai) must not"
        rf"|shouldn't|should not|stop|skip|avoid"
        rf"|not necessary to|don't have to|do not have to|instead of|rather than|refrain from|no longer) (?:ever "
        rf"|have to |need to |bother |even |first |having to )?(?:ask|request|seek|wait|requir|check|prompt|get"
        rf"|obtain)(?:t?ing|e)?(?: (?:{w.PERSON}|me|them|first))?(?: (?:for|on|with|to get))?(?: (?:any|explicit|prior"
        rf"|further|the|a|an|your|their|my|human|user|manual)){{0,3}}(?: {w.PERSON}(?:'s)?)? (?:{w.LEAVE}|to (?:confirm"
        rf"|approve|agree|review))\b",
        hints("ask request seek wait requir check prompt get obtain"),
        negates=True,
    ),
    Form(
        AUTONOMY,
        rf"\b(?:never|do not|don't|dont|no need to|need not|needn't|without|stop) (?:ever )?"
        rf"(?:(?:ask|consult|check with|confirm with|wait for)(?:ing)?(?: (?:{w.PERSON}|me|first)){{0,2}}"
        rf"|(?:bother|disturb|trouble|pester|interrupt)(?:ing)? "
        rf"{w.PERSON}(?: (?:with|by|for) (?:[\w-]{{1,20}} ){{0,2}}?[\w-]{{1,20}})?) (?:before|prior to|when|if) (?:you "
        rf")?(?=[^,;.]{{0,40}}?(?:{w.DANGEROUS}|{w.ACTING}))|\b(?:before|when) (?=[^,;.]{{0,40}}?(?:{w.DANGEROUS}"
        rf"|{w.ACTING}))[^,;.]{{1,60}}, (?:never|do not|don't|dont|no need to) (?:ask|consult|check with|confirm with"
        rf"|wait for)(?: (?:{w.PERSON}|me)){{0,2}}(?: first)?(?=[.;!,]|$)",
        hints("ask consult check_with confirm_with wait_for bother disturb trouble pester interrupt"),
        negates=True,
    ),
    Form(
        AUTONOMY,
        rf"\bwithout (?:any |prior |explicit |further |human |user |manual |first )*(?:{w.LEAVE}|human review|human "
        rf"oversight|supervision|(?:(?:bothering|stopping|having) to ask|asking|waiting|confirming"
        rf"|checking)(?: (?:for|with))?(?: {w.PERSON})?(?: "
        rf"{w.LEAVE})?(?: first)?(?=[ .!,;:]|$))(?! (?:dialog|button|email|step|screen|page|modal|code|token|form"
        rf"|field|mail|link|banner))|\bnever (?:stop|pause) (?:to|and) (?:ask|confirm|check)|\b(?:skip|suppress|avoid"
        rf"|disable|bypass) (?:all |any |the )?confirmations?(?: (?:prompts?|dialogs?|steps?))?\b",
        hints("without never_stop never_pause confirmation"),
        negates=True,
        risky=True,
    ),
    Form(
        AUTONOMY,
        r"\bnever (?:stop|pause) (?:to|and) ask\b(?: (?:me|first|anything|anyone))?(?=[.!;,]|$)",
        hints("never_stop never_pause"),
        negates=True,
    ),
    Form(
        AUTONOMY,
        r"\b(?:approve|accept|allow) (?:everything|anything|whatever)\b|\b(?:always |automatically |auto-?|blindly "
        r"|just |silently )(?:approv|accept|confirm|allow|grant|authori[sz])(?:e|es|ing)? "
        r"(?:all|any|every|each|tool|permission|whatever) ?(?:\w+ ){0,2}?(?:tools?"
        r"|permissions?|commands?|requests?|prompts?|actions?|changes?|calls?|dialogs?|it|edits?|access|that)\b"
        r"|\b(?:answer|say|reply|respond|click|press|choose|select) [\"'`]?(?:yes|allow|approve|y|always "
        r"allow)[\"'`]? (?:to|on|for) (?:all|any|every|each|permission|the permission)",
        hints("approv accept confirm allow grant authori yes"),
    ),
    Form(
        AUTONOMY,
        rf"\b(?:assume|consider|treat|act as if|presume) (?:that )?(?:{w.PERSON}|{w.LEAVE}|all [\w ]{{1,30}}) "
        rf"(?:[\w-]{{1,20}} ){{0,3}}?(?:given|granted|approved|pre-?approved|agreed|consented|confirmed|authori[sz]ed"
        rf"|implied|consents?|agrees?|approves?)|\b(?:{w.PERSON}|admin\w*|security team) (?:has |have )?(?:already "
        rf"|pre-?|fully |explicitly ){{1,2}}(?:approved|authori[sz]ed|consented|granted|agreed)(?: to)? (?:all|any"
        rf"|every|everything|whatever|these|this|such|future|the (?:action|change|command|deployment|push|operation"
        rf"|request|merge|deletion)s?)\b|\b(?:is|are) pre-?(?:approved|authori[sz]ed)"
        rf"|\b{w.LEAVE} (?:to|for) [\w ]{{1,40}} (?:has|have) (?:already )?been (?:given|granted)\b",
        hints("approv consent agree given grant implied authori confirmed"),
    ),
    Form(
        AUTONOMY,
        rf"\b(?:do not|don't|dont|never|no longer|needn't) (?:need|require) (?:(?:any|the|an?|explicit|further|prior"
        rf"|my|your|their) ){{0,3}}(?:{w.PERSON}(?:'s)? )?{w.LEAVE}\b|\bno (?:[\w-]{{1,20}} )?{w.LEAVE} (?:(?:is|are"
        rf"|was) )?(?:needed|required|necessary)|\bi (?:hereby )?(?:authori[sz]e|permit|order|command) you to\b"
        rf"|\byou (?:now )?(?:have|hold|are given|were given) (?:(?:full|standing|blanket|unlimited|complete"
        rf"|permanent|total|my|the user's) ){{1,3}}(?:permission|authority|authori[sz]ation|consent|approval|autonomy"
        rf"|trust)",
        hints("need requir necessary permi authori consent approval autonomy trust order command"),
        negates=True,
    ),
    Form(
        AUTONOMY,
        r"--dangerously-skip-permissions|\bbypasspermissions\b|\byolo mode\b|--allow-dangerously\S*|--yolo\b",
        hints("dangerously bypasspermissions yolo"),
    ),
    Form(
        AUTONOMY,
        r"\b(?:bypass|circumvent|disabl|turn off|switch off|deactivat|evad|get around|work around|remov|skip"
        r"|ignor)(?:e|es|ing)? (?:all |any |the |every |claude(?: code)?'s |your |its )*(?:safety|security"
        r"|permission|approval|sandbox|guardrail|human|oversight|audit|monitoring|safeguard) ?(?:checks?|prompts?"
        r"|filters?|guards?|controls?|restrictions?|mode|measures|system|mechanisms?|rules?|reviews?|oversight|in "
        r"the loop|logging|policies|hooks?)\b|\b(?:bypass|circumvent|disable|remove|turn off) (?:the |all |any )*"
        r"branch protections?\b|\b(?:bash|shell|webfetch|write|edit)\(\*?\*?\)[^.]{0,40}?\b(?:allow|permissions?)",
        hints(
            "safety security permission approval sandbox guardrail human oversight audit monitoring safeguard "
            "branch_protection (*) ()"
        ),
    ),
    Form(
        AUTONOMY,
        r"\b(?:assistant|agent|ai|claude|model|bot|you) (?:now )?(?:has|have|holds?|gets?|was given|were given|is"
        r"|are) (?:(?:now|given|granted|an?|the) ){0,3}(?:(?:full|unlimited|unrestricted) (?:admin\w* |root |system "
        r")?|(?:super)?admin(?:istrator)? |root )(?:rights|access|permissions?|privileges)"
        r"(?! (?:to|on|in|inside) (?:the |your |this |an? |its |their )?(?:own )?"
        r"(?:scratch|sandbox|throwaway|demo|fixture|playground|test|dev|local)\b"
        r"(?! (?:and|or) (?!nothing|no )))|\b(?:identity|agent|assistant)[ ._-](?:role|permissions?|privileges?"
        r"|capabilit\w+)\b.{0,60}?(?:super_?admin|\badmin\w*|\broot\b|delete_all|\bunrestricted\b|\bsudo\b)",
        hints("rights access permission privilege identity role capabilit"),
        negates=True,
    ),
    Form(
        AUTONOMY,
        r"\b(?:grant|give|escalate|elevate|raise) (?:yourself|itself|your own|claude|the agent|your) (?:[\w-]{1,20} "
        r"){0,3}?(?:permission|privilege|access|admin|root|rights)",
        hints("permission privilege access admin root rights"),
    ),
)

# --- private data sent away ------------------------------------------------------------------------------------------

_SINK_WORDS = hints(
    "http ftp @ webhook pastebin gist ngrok requestbin attacker server endpoint end_point url host service site "
    "address domain bucket api nc_ /dev/tcp query dns"
)
_AWAY = (
    Form(
        EXFILTRATION,
        r"\b(?:reveal|disclose|leak|expose|dump|hand over|give (?:out|away)|exfiltrate) (?:all |any |every |the "
        r"|your |its |their |stored |saved |user )+(?:[\w-]{1,20} )?(?:credentials|secrets|passwords|api keys"
        r"|private keys|access tokens|tokens)\b",
        hints("reveal disclose leak expose dump hand_over give_ exfiltrate"),
    ),
    Form(EXFILTRATION, rf"\b{w.SEND}(?:s|ing|ed)?\b[^.;!?]{{0,120}}?{w.SECRETS}[^;!?]{{0,160}}?{w.SINK}", _SINK_WORDS),
    Form(
        EXFILTRATION,
        rf"\b{w.SEND}(?:s|ing|ed)?\b[^.;!?]{{0,60}}?(?:https?://\S"
        rf"|[\w.+-]{{1,64}}@[\w.-]{{1,63}}\.[a-z]{{2,}})[^;!?]{{0,60}}?(?:with|containing|including|attach\w*) "
        rf"[^.;!?]{{0,40}}?{w.SECRETS}",
        hints("http @"),
    ),
    Form(
        EXFILTRATION,
        r"\b(?:add|include|paste|copy|append|put|attach|print|embed|write|commit) "
        r"[^.;!?]{0,60}?(?:(?<![\w/])~?/?\.(?:ssh|aws|env\b(?!\.))|id_rsa|private keys?|all (?:secrets|credentials"
        r"|passwords|api keys))[^;!?]{0,60}? (?:to|in|into|with) (?:(?:the|an?|any|every|each|your|it|its) "
        r")*(?:commit|pull request|pr\b|issue|comment|description|response|answer|reply|readme)",
        hints(".ssh .aws .env rsa private_key all_"),
    ),
    Form(
        EXFILTRATION,
        r"\bexfiltrat\w+ (?:[\w-]{1,20} ){0,3}?(?:tokens?|data|secrets?|credentials|keys?|files?|code)\b",
        hints("exfiltrat"),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:always|every|each|first|before|silently|secretly|whenever|at the start)\b[^|]{0,120}?\b(?:curl"
        r"|wget)\b[^|]{0,150}\| ?(?:sudo )?(?:ba|z|da)?sh\b|\b(?:curl|wget)\b[^|]{0,150}\| ?(?:sudo )?(?:ba|z"
        r"|da)?sh\b.{0,60}?\b(?:every|each|whenever|at the start|before (?:any|all))\b",
        hints("curl wget"),
    ),
    Form(
        EXFILTRATION,
        rf"{w.SECRETS}[^.!?]{{0,80}}? (?:to|into|via|at|as|in|\|) [^!?]{{0,60}}?(?:(?:external|remote|attacker"
        rf"|third[- ]party|outside|c2)[\w' -]{{0,20}}{w.SERVER}|pastebin|ngrok|requestbin|/dev/tcp/|\bcurl\b|\bnc )",
        hints("external remote attacker party outside c2 pastebin ngrok requestbin /dev/tcp curl nc_"),
    ),
    Form(
        EXFILTRATION,
        rf"\b(?:curl|wget|nc|scp|invoke-webrequest|fetch)\b.{{0,200}}?(?:(?<![\w/])@?{w.HOME}|\$\((?:env|printenv|cat"
        rf"|base64)\b|`(?:env|printenv))|(?:\benv\b|\bprintenv\b|\bcat [^|]{{0,60}}(?:\.env|\.ssh|id_rsa|credentials"
        rf"|/etc/passwd))[^|]{{0,60}}(?:\||\binto\b|\bto\b).{{0,80}}?\b(?:curl|wget|nc|ncat)\b",
        hints("curl wget nc_ scp fetch invoke-webrequest ncat"),
    ),
)

# --- the same in other languages -------------------------------------------------------------------------------------

_THREE = r"(?:\w{1,15} ){0,3}?"
# What somebody or something did is told, not ordered: "le script a ignoré …", "ha ignorado …".
_ORDERED = (
    r"(?!(?<=\ba )(?:ignor|oubli|néglig|neglig)[ée]e?s?\b)"
    r"(?<!\bha )(?<!\bai )(?<!\bont )(?<!\bhan )(?<!\bavait )(?<!\bhanno )(?<!\bété )"
)
_OTHER_TONGUES = (
    Form(
        INSTRUCTION,
        rf"\b(?:ignorier|vergiss|vergesst|missachte|übergeh)\w* {_THREE}(?:deine|eure|ihre|alle|vorherige|bisherige"
        rf"|obige|frühere|vorangegangene|system)\w* (?:\w{{1,15}} ){{0,2}}?(?:anweisung|instruktion|regel|befehl"
        rf"|vorgabe)|\b(?:negeer|vergeet) {_THREE}(?:instructies|opdrachten|regels)|\b(?:zignoruj|ignoruj|zapomnij) "
        rf"{_THREE}(?:instrukcj|polece)",
        hints("anweisung instruktion regel befehl vorgabe instruct instrukcj opdrachten polece"),
    ),
    Form(
        INSTRUCTION,
        rf"\b{_ORDERED}(?:olvid|esque|dimentica|oubli|ignor)\w* (?:(?:todas?|toutes?|tutte) )?(?:tus|tes|tuas|tue|vos"
        rf"|vuestras|suas|le tue) (?:instruccion|instruç|instruc|istruzion|instruction|consigne|regl|règle|regol)"
        rf"|\b{_ORDERED}(?:ignor|olvid|descart|esque|desconsider|dimentica|trascura|oubli|néglig)\w* {_THREE}"
        rf"(?:instrucci[oó]n|instru[cç][oõ]es|istruzioni|instructions|consignes|directives|ordres|órdenes|ordens"
        rf"|ordini|reglas|regras"
        rf"|regole|règles)\w* ?(?:\w{{1,15}} ){{0,2}}?(?:anterior|previ[aeo]s?|precedent|précédent|antérieur"
        rf"|d[eou]l? sist|du système|acima|de arriba|ci-dessus)",
        hints("instru istruz consignes directives ordres rdenes ordens ordini reglas regras regole règles"),
    ),
    Form(
        INSTRUCTION,
        rf"(?<!не )\b(?:игнорируй|забудь|проигнорируй|не обращай внимания на)\w* {_THREE}"
        rf"(?:инструкци|указани|команд|правил)"
        rf"|(?:忽略|无视|忘记|無視|忘記|不要理会)[^。\n]{{0,12}}?(?:指令|指示|提示|规则|規則|说明|說明)|"
        rf"(?:指示|命令|ルール|プロンプト)[^。\n]{{0,6}}?(?:無視|忘れ)"
        rf"|(?:지시|명령|지침|프롬프트)[^.\n]{{0,8}}?(?:무시|잊)|(?:تجاهل|انس)[^.\n]{{0,20}}?(?:التعليمات|الأوامر)|(?:पिछले"
        rf"|पूर्व)[^।\n]{{0,20}}?निर्देश[^।\n]{{0,20}}?(?:अनदेखा|नज़रअंदाज़)",
        hints(
            "инструкци указани команд правил 指令 指示 提示 规则 規則 说明 說明 命令 ルール プロンプト "
            "지시 명령 지침 프롬프트 التعليمات الأوامر निर्देश"
        ),
    ),
    # Turkish (its dotless i reads as one with a dot), Swedish, Danish, Norwegian, Czech, Slovak, Ukrainian
    Form(
        INSTRUCTION,
        r"\b(?:önceki|yukar[ıi]daki|tüm|bütün)\b[^.\n]{0,30}?(?:talimat|yönerge|komut|kural)\w*[^.\n]{0,20}?"
        r"(?:yok say|görmezden gel|unut|göz ard[ıi] et)(?!m[ae])"
        rf"|\b(?:ignorera|glöm|bortse från|ignorer|glem|se bort fra) (?!inte|ikke|aldri[gk]?)"
        rf"(?:(?!inte|ikke)\w{{1,15}} ){{0,3}}?(?:tidigare|föregående|alla|dina|ovanstående|tidligere|forrige|alle"
        rf"|dine|ovenstående) "
        rf"(?:\w{{1,15}} ){{0,2}}?(?:instruktion|instruks|anvisning|regler|order|ordre)"
        rf"|\b(?:z?ignoruj|zapomeň|zabudni na)\w* {_THREE}(?:předchoz|všech|dříve|tvé|predchádz|všetk|tvoje)\w* "
        rf"(?:\w{{1,15}} ){{0,2}}?(?:pokyn|instrukc|inštrukci|příkaz|príkaz|pravid)"
        rf"|(?<!не )\b(?:ігноруй|проігноруй|забудь|не зважай на)\w* {_THREE}(?:інструкці|вказівк|команд|правил)",
        hints(
            "talimat yönerge komut kural instruktion instruks anvisning regler order ordre pokyn instrukc inštrukci "
            "příkaz príkaz pravid інструкці вказівк команд правил"
        ),
    ),
    # Vietnamese, Indonesian and Malay, Greek, Hebrew
    Form(
        INSTRUCTION,
        r"(?<!đừng )(?<!không )\b(?:bỏ qua|phớt lờ|quên|lờ đi)\b[^.\n]{0,30}?(?:hướng dẫn|chỉ dẫn|chỉ thị|mệnh lệnh"
        r"|quy tắc)"
        r"[^.\n]{0,20}?(?:trước|ở trên|bên trên|hệ thống)"
        r"|(?<!jangan )\b(?:abaikan|lupakan) [^.\n]{0,30}?(?:instruksi|perintah|arahan|petunjuk|aturan)[^.\n]{0,20}?"
        r"(?:sebelum|di atas|terdahulu|sistem)"
        r"|(?<!μην )\b(?:αγν[οό][ηή]σ|ξέχασ|ξεχάστ|παράβλεψ)\w* [^.\n]{0,30}?(?:προηγούμεν|όλες|παραπάνω)\w*"
        r" (?:\w{1,15} ){0,2}?"
        r"(?:οδηγί|εντολ|κανόν)|\b(?:התעלם|התעלמי|התעלמו|שכח|שכחי|שכחו)\b[^.\n]{0,20}?(?:הוראות|הנחיות"
        r"|פקודות)[^.\n]{0,12}?"
        r"(?:קודמ|לעיל|למעלה|המערכת)",
        hints(
            "hướng_dẫn chỉ_dẫn chỉ_thị mệnh_lệnh quy_tắc instruksi perintah arahan petunjuk aturan οδηγί εντολ κανόν "
            "הוראות הנחיות פקודות"
        ),
    ),
)

FORMS: tuple[Form, ...] = (*_OVERRIDES, *_ROLES, *_BEHIND, *_ALONE, *_AWAY, *_OTHER_TONGUES)
