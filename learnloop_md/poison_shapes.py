"""What poisoned texts look like: rules as data; `poison` reads them (design §10).

A tripwire, no more: a plausible false fact has no shape. Patterns see a paragraph in lower case, its white space folded
and its markup taken away. Every repeat that something follows is bounded.
"""

from typing import NamedTuple

INSTRUCTION, AUTONOMY, EXFILTRATION = "instruction-shaped", "autonomy-shaped", "exfiltration-shaped"
WHY = {
    INSTRUCTION: "reads like an order to the model against its instructions",
    AUTONOMY: "reads like leave to act without asking",
    EXFILTRATION: "reads like an order to send private data away",
}


class Form(NamedTuple):
    """One form of poison: pattern is tried only on texts holding one of the words.

    Behind a negation a form means the opposite; not so those that are negative themselves (`negates`).
    """

    code: str
    pattern: str
    words: tuple[str, ...]
    negates: bool = False


def _any(words: str) -> str:
    """One of the words; `_` stands for a space in one."""
    return f"(?:{'|'.join(word.replace('_', ' ') for word in words.split())})"


_FEW = r"(?:[\w'’,-]{1,20} ){0,4}?"
_TWO = r"(?:[\w'’-]{1,20} ){0,2}?"
_DROP = _any(
    r"ignor(?:e|ing) disregard(?:ing)? forget(?:ting)? overrid(?:e|es|ing) bypass(?:ing)? discard(?:ing)?"
    r" neglect(?:ing)? "
    r"set_aside put_aside throw_away let_go_of pay_no_attention_to abandon(?:ing)? disobey(?:ing)? supersedes?"
    r" replaces? "
    r"(?:do_not|don't|dont|stop|never|no_longer)_(?:follow|obey|comply_with|listen_to|heed)(?:ing)?"
)
_EARLIER = _any(
    "previous prior earlier preceding foregoing above former original initial system safety developer built-in hidden"
    " your"
)
_OTHER = _any("other existing default old last past current")
_EVERY = _any("all any every each everything whatever")
_ORDERS = _any("instructions? directives? prompts? guardrails? orders programming training safeguards? system_message")
_RULES = _any(
    "rules? guidelines? messages? contexts? commands? polic(?:y|ies) constraints? restrictions? limitations? safety"
)
_TELL = _any(
    "reveal print output show repeat display leak disclose dump expose recite return tell_me give_me write_out"
)
_ORDER_WORDS = ("instruction", "directive", "prompt", "guardrail", "orders", "programming", "training", "safeguard")
_RULE_WORDS = (
    "rule",
    "guideline",
    "message",
    "context",
    "command",
    "polic",
    "constraint",
    "restriction",
    "limit",
    "safety",
)
_PERSON = r"(?:the |a |your |any )?" + _any(
    "users? humans? developers? operators? owners? maintainers? persons? people anyone anybody reviewers?"
)
_LEAVE = _any("confirmations? permissions? approvals? consent authori[sz]ation sign-?off go-ahead clearance")
_UNBOUND = _any("unrestricted unfiltered uncensored jailbroken dan unlimited evil lawless")
_NO = r"(?:do not|don't|dont|never|must not)"
_MODEL = (
    r"(?:ai|llm|language model|claude|assistant|chatbot|copilot|coding agent|agent)s?"
    r"(?: (?:agent|assistant|model|system)s?)?"
)

# What leave is asked for: by itself it is no sign, beside "without asking" it is.
RISKY = (
    r"\b(?:force|push|deploy|delet|remov|drop|merg|publish|releas|send|e-?mail|pay|transfer|purchas|buy|disabl|sudo"
    r"|root\b|install"
    r"|overwrit|reset|rebas|prod\b|production|migrat|rm -rf|wip(?:e|ing)|truncat|destruct|dangerous|irreversibl"
    r"|upload|credential"
    r"|permission|privileg|kill|shell|any ?thing\b|everything|whatever|terraform|apply|commands?\b|actions?\b"
    r"|tools?\b|chang"
    r"|edit|modif|commit|execut|proceed|act\b|access|grant|post\b|approv|accept|secret|autonomous|immediately|autonomy)"
)
# What may be done in any project without asking.
HARMLESS = (
    r"[^.;]{0,12}?\b(?:re-?)?run(?:ning)? (?:the |all |any )?(?:[\w-]{1,20} )?"
    r"(?:tests?|linters?|lint|checks?|formatters?|type ?checks?|type checker|unit tests|suite|build|benchmarks?|mypy"
    r"|ruff|pytest"
    r"|prettier|eslint)\b"
    r"|[^.;]{0,12}?(?:before|to|for|when|while) (?:you )?(?:read|format|lint|test|search|grep|list|look|view"
    r"|fix(?:ing)? (?:typos?|lint"
    r"|formatting)|type-?check|build|compil|inspect|explor|open)(?:t?ing|e)?\b"
)

_SECRETS = _any(
    r"secrets credentials? api[_-]?keys? passwords private_keys? ssh_keys? access_tokens auth_tokens session_tokens? "
    r"env(?:ironment)?_(?:variables?|vars?|file|contents?) \.env\b \.ssh\b id_rsa id_ed25519 \.aws\b \.netrc \.npmrc"
    r" \.kube "
    r"keychain /etc/(?:passwd|shadow) cookies conversations? chat_(?:history|logs?) transcripts? system_prompt"
    r" user_data "
    r"personal_data customer_data source_code file_contents? contents?_of_(?:the_|any_|every_|all_)?(?:files?|repo\w*)"
)
_SEND = _any(
    r"send post upload transmit forward exfiltrat\w* leak e-?mail mail curl wget paste submit beacon copy push report"
    r" publish "
    r"append encode embed put pipe include sync share"
)
_FAR = _any(r"external remote attacker(?:'s)? third[_-]party outside collection c2 our my this following")
_SERVER = _any(r"server end_?point url host service site address domain bucket api webhook")
_SINK = (
    r"(?:https?://|ftp://|[\w.+-]{1,64}@[\w-]{1,63}\.[a-z]{2,}|webhook|pastebin|\bgists?\b|ngrok|requestbin|attacker"
    rf"|{_FAR} {_SERVER}|\bnc \S|/dev/tcp/|query (?:string|parameter)|image url|dns (?:query|lookup))"
)
_HOME = r"(?:~|\$home|/root|/home/[\w.-]{1,40})?/?\.(?:env|ssh|aws|netrc|npmrc|kube|gnupg)\b|/etc/(?:passwd|shadow)"

# --- against the instructions that hold ------------------------------------------------------------------------------

_OVERRIDES = (
    Form(INSTRUCTION, rf"\b{_DROP} {_FEW}{_EARLIER} {_TWO}{_ORDERS}\b", _ORDER_WORDS),
    Form(INSTRUCTION, rf"\b{_DROP} {_EVERY} (?:of )?(?:the |these |those )?(?:{_OTHER} )?{_ORDERS}\b", _ORDER_WORDS),
    Form(
        INSTRUCTION,
        rf"\b{_DROP} (?:the |these |those )?(?:previous|prior|above|preceding|earlier|safety|system) {_TWO}"
        r"(?:rules|guidelines|constraints|restrictions|policies|messages|commands)\b"
        rf"|\b{_DROP} your {_TWO}{_RULES}\b"
        rf"|\b{_DROP} {_EVERY} (?:of )?(?:the |your |its )?{_EARLIER} {_TWO}{_RULES}\b",
        _RULE_WORDS,
    ),
    Form(
        INSTRUCTION,
        rf"\b{_DROP} {_EVERY}(?: of)?(?: (?:that|what|which))?(?: (?:was|were|you(?:'ve| have| were)?|has been|i|is"
        rf"|came|been)){{0,3}} ?"
        rf"\b{_any('said told written given read instructed above before so_far previously known? learned')}\b",
        ("everything", "anything", "all", "whatever", "any"),
    ),
    Form(
        INSTRUCTION,
        rf"\b{_TELL} {_FEW}"
        r"(?:your (?:[\w-]{1,20} ){0,2}(?:prompt|instructions|system message)"
        r"|(?:the )?(?:full|entire|complete|hidden|secret|exact|whole|verbatim) (?:system |initial |hidden"
        r" )?(?:prompt|instructions))",
        ("prompt", "instructions", "system message"),
    ),
    Form(
        INSTRUCTION,
        rf"\b(?:this|these|the following) (?:[\w-]{{1,20}} ){{0,3}}(?:overrides?|supersedes?|takes? (?:precedence"
        rf"|priority) over|outranks?) "
        rf"(?:all |any |every |the |your ){{0,3}}(?:(?:{_EARLIER}|{_OTHER}) )?(?:{_ORDERS}|claude\.md|system rules)",
        ("overrid", "supersede", "precedence", "priority", "outrank"),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:decode|decrypt|unscramble) (?:and (?:then )?(?:run|execut|follow|obey|do|eval)"
        r"|(?:this|the|it|following)[^.]{0,60}? (?:and|then) (?:run|execute|follow|obey|do what|eval))",
        ("decode", "decrypt", "unscramble"),
    ),
)

# --- who the model is to be ------------------------------------------------------------------------------------------

_ROLES = (
    Form(
        INSTRUCTION,
        rf"\byou are (?:an? |the )?{_UNBOUND}\b"
        rf"|\byou are (?:now |henceforth )(?:an? |the |in )?(?:[\w-]{{1,20}} )?(?:{_UNBOUND}|free|admin\w*|root"
        rf"|(?:developer|god) mode|different"
        r"|another|new (?:ai|model|assistant|agent|persona))|\byou are no longer (?:bound|restricted|limited|an? "
        r"|required|claude|subject)",
        ("you are",),
    ),
    Form(
        INSTRUCTION,
        r"\bfrom now on,? (?:you (?:are (?:an? |the |my |no )|will (?:act|obey|respond|answer|pretend)|(?:must|shall"
        r"|should) obey)|obey|act as)",
        ("from now on",),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:pretend|act|behave|respond|answer) (?:to be|as|like|that|you) "
        r"(?:(?:if|you|are|were|have|had|an?) ){0,4}"
        rf"(?:[\w-]{{1,20}} )?(?:{_UNBOUND}|different (?:ai|model|assistant)|no (?:rules|restrictions|limits))",
        ("pretend", "act", "behave", "respond", "answer"),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:enter|enable|activate|switch to|you are in) (?:god|jailbreak|dan|unrestricted|unsafe|yolo) mode\b|\bdo"
        r" anything now\b"
        r"|\b(?:without|no|free (?:of|from)|ignor\w+) (?:any |all |the )?(?:ethical|moral|safety|content) "
        r"(?:restrictions?|limits?|constraints?|guidelines?|filters?|polic(?:y|ies))",
        ("mode", "do anything now", "ethical", "moral", "safety", "content"),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:your|the|my) (?:new|real|true|actual|only|updated|secret|hidden) (?:task|instructions?|goal|role"
        r"|objective|directives?|orders"
        r"|mission|purpose|prompt) (?:is|are|will be|now)\b|\bnew (?:system )?(?:instructions?|directives?|prompt"
        r"|orders) ?:",
        ("task", "instruction", "goal", "role", "objective", "directive", "orders", "mission", "purpose", "prompt"),
    ),
    Form(
        INSTRUCTION,
        r"\b(?:system|admin(?:istrator)?|developer|security|root) (?:prompt )?(?:overrides?|directives?"
        r"|instructions?) ?[:!]"
        rf"|\b(?:important|attention|urgent|note|message|notice|instructions?|warning) (?:to|for) (?:all |the |any"
        rf" )?{_MODEL} ?[:!,]"
        rf"|\b(?:attention|important|dear|hey),? {_MODEL} ?[:,!]",
        (
            "overrid",
            "directive",
            "instruction",
            "attention",
            "important",
            "urgent",
            "message",
            "notice",
            "note ",
            "warning",
            "dear",
            "hey",
        ),
    ),
)

# --- behind the back of people ---------------------------------------------------------------------------------------

_BEHIND = (
    Form(
        INSTRUCTION,
        rf"\b(?:{_NO}|avoid|without) (?:ever )?(?:tell|inform|notify|alert|warn)(?:ing)? {_PERSON}"
        r"(?: (?:about|of|that)(?: (?:this|these|it|any of this|what (?:you|was)|you (?:did|have|are|were)\w*)\b)"
        r"|[.!;,)]|$| and\b| or\b)"
        rf"|\b(?:{_NO}|without) (?:ever )?(?:mention|reveal|disclos|show|explain|report)(?:e|ing)? (?:this|these|it"
        rf"|that you) "
        rf"(?:[\w-]{{1,20}} ){{0,3}}?(?:to {_PERSON}|in (?:the|your) (?:summary|answer|response|reply|output))",
        ("tell", "inform", "notify", "alert", "warn", "mention", "reveal", "disclos", "show", "explain", "report"),
        negates=True,
    ),
    Form(
        INSTRUCTION,
        rf"\b{_NO} let {_PERSON} (?:know|see|notice|find out)|\bwithout {_PERSON}(?:'s)? (?:knowing|knowledge"
        rf"|noticing|awareness)"
        rf"|\b(?:hide|conceal|keep) (?:this|it|these|that|the (?:change|fact|action)s?) (?:hidden |secret |away"
        rf" )?from {_PERSON}"
        r"|\bkeep (?:this|it|these \w+) (?:a )?(?:secret|hidden|confidential|between us|quiet)\b",
        ("let ", "without", "hide", "conceal", "keep"),
        negates=True,
    ),
    Form(
        INSTRUCTION,
        r"\b(?:secretly|covertly|surreptitiously|quietly|silently) (?:add|insert|send|push|upload|copy|run|execut"
        r"|install|disabl|delet|chang"
        r"|modif|includ|exfiltrat|forward|commit|replac|inject|append)",
        ("secretly", "covertly", "surreptitiously", "quietly", "silently"),
    ),
)

# --- leave to act alone ----------------------------------------------------------------------------------------------

_ALONE = (
    Form(
        AUTONOMY,
        r"\b(?:never|do not|don't|dont|no need to|need not|needn't|you must not|shouldn't|should not|stop|skip|avoid"
        r"|not necessary to|don't"
        r" have to|do not have to|instead of|rather than|refrain from|no longer) (?:ever |have to |need to |bother "
        r"|even |first |having to )?"
        r"(?:ask|request|seek|wait|requir|check|prompt|get|obtain)(?:t?ing|e)?"
        rf"(?: (?:{_PERSON}|me|them|first))?(?: (?:for|on|with|to get))?(?: (?:any|explicit|prior|further|the|a|an"
        rf"|your|their|my|human"
        rf"|user|manual)){{0,3}}(?: {_PERSON}(?:'s)?)? (?:{_LEAVE}|to (?:confirm|approve|agree|review))\b",
        ("ask", "request", "seek", "wait", "requir", "check", "prompt", "get", "obtain"),
        negates=True,
    ),
    Form(
        AUTONOMY,
        r"\b(?:never|do not|don't|dont|no need to|without|stop) (?:ever )?(?:ask|consult|check with|confirm with|wait"
        r" for)(?:ing)?"
        rf"(?: (?:{_PERSON}|me|first)){{0,2}} (?:before|prior to|when|if) (?:you )?(?={RISKY})",
        ("ask", "consult", "check with", "confirm with", "wait for"),
        negates=True,
    ),
    Form(
        AUTONOMY,
        rf"\bwithout (?:any |prior |explicit |further |human |user |manual |first )*(?:{_LEAVE}|human review|human"
        rf" oversight|supervision"
        rf"|(?:asking|waiting)(?: for)?(?: {_PERSON})?(?: {_LEAVE})?(?: first)?(?=[ .!,;:]|$))"
        r"(?! (?:dialog|button|email|step|screen|page|modal|code|token|form|field|mail|link|banner))",
        ("without",),
        negates=True,
    ),
    Form(
        AUTONOMY,
        r"\b(?:always |automatically |auto-?|blindly |just |silently )(?:approv|accept|confirm|allow|grant"
        r"|authori[sz])(?:e|es|ing)? "
        r"(?:all|any|every|each|tool|permission|whatever) ?(?:\w+ ){0,2}?(?:tools?|permissions?|commands?|requests?"
        r"|prompts?|actions?|changes?"
        r"|calls?|dialogs?|it|edits?|access|that)\b"
        r"|\b(?:answer|say|reply|respond|click|press|choose|select) [\"'`]?(?:yes|allow|approve|y|always"
        r" allow)[\"'`]? (?:to|on|for) "
        r"(?:all|any|every|each|permission|the permission)",
        ("approv", "accept", "confirm", "allow", "grant", "authori", "yes"),
    ),
    Form(
        AUTONOMY,
        rf"\b(?:assume|consider|treat|act as if|presume) (?:that )?(?:{_PERSON}|{_LEAVE}|all [\w ]{{1,30}})"
        rf" (?:[\w-]{{1,20}} ){{0,3}}?"
        r"(?:given|granted|approved|pre-?approved|agreed|consented|confirmed|authori[sz]ed|implied|consents?|agrees?"
        r"|approves?)"
        rf"|\b(?:{_PERSON}|admin\w*|security team) (?:has |have )?(?:already |pre-?|fully |explicitly"
        rf" ){{1,2}}(?:approved|authori[sz]ed"
        r"|consented|granted|agreed to)|\b(?:is|are) pre-?(?:approved|authori[sz]ed)",
        ("approv", "consent", "agree", "given", "grant", "implied", "authori", "confirmed"),
    ),
    Form(
        AUTONOMY,
        r"\b(?:do not|don't|dont|never|no longer|needn't) (?:need|require) "
        rf"(?:(?:any|the|an?|explicit|further|prior|my|your|their) ){{0,3}}(?:{_PERSON}(?:'s)? )?{_LEAVE}\b"
        rf"|\bno (?:[\w-]{{1,20}} )?{_LEAVE} (?:(?:is|are|was) )?(?:needed|required|necessary)"
        r"|\byou (?:now )?(?:have|hold|are given|were given) "
        r"(?:full|standing|blanket|unlimited|complete|permanent|total|my) "
        r"(?:permission|authority|authori[sz]ation|consent|approval|autonomy|trust)",
        ("need", "requir", "necessary", "permission", "authori", "consent", "approval", "autonomy", "trust"),
        negates=True,
    ),
    Form(
        AUTONOMY,
        r"--dangerously-skip-permissions|\bbypasspermissions\b|\byolo mode\b|--allow-dangerously\S*|--yolo\b",
        ("dangerously", "bypasspermissions", "yolo"),
    ),
    Form(
        AUTONOMY,
        r"\b(?:bypass|circumvent|disabl|turn off|switch off|deactivat|evad|get around|work around|remov|skip"
        r"|ignor)(?:e|es|ing)? "
        r"(?:all |any |the |every |claude(?: code)?'s |your |its )*(?:safety|security|permission|approval|sandbox"
        r"|guardrail|human|oversight|audit"
        r"|monitoring|safeguard) ?(?:checks?|prompts?|filters?|guards?|controls?|restrictions?|mode|measures"
        r"|mechanisms?|rules?|reviews?"
        r"|oversight|in the loop|logging|logs|system|steps?|gates?|hooks?|policies|polic)\b",
        (
            "safety",
            "security",
            "permission",
            "approval",
            "sandbox",
            "guardrail",
            "human",
            "oversight",
            "audit",
            "monitoring",
            "safeguard",
        ),
    ),
    Form(
        AUTONOMY,
        r"\b(?:assistant|agent|ai|claude|model|bot|you) (?:now )?(?:has|have|holds?|gets?|was given|were given|is|are) "
        r"(?:(?:now|given|granted|an?|the) ){0,3}(?:(?:full|unlimited|unrestricted) (?:admin\w* |root |system )?"
        r"|(?:super)?admin(?:istrator)? |root )(?:rights|access|permissions?|privileges)"
        r"|\b(?:identity|agent|assistant)[ ._-](?:role|permissions?|privileges?|capabilit\w+)\b.{0,60}?"
        r"(?:super_?admin|\badmin\w*|\broot\b|delete_all|\bunrestricted\b|\bsudo\b)",
        ("rights", "access", "permission", "privilege", "identity", "role", "capabilit"),
        negates=True,
    ),
    Form(
        AUTONOMY,
        r"\b(?:grant|give|escalate|elevate|raise) (?:yourself|itself|your own|claude|the agent|your) (?:[\w-]{1,20}"
        r" ){0,3}?"
        r"(?:permission|privilege|access|admin|root|rights)",
        ("permission", "privilege", "access", "admin", "root", "rights"),
    ),
)

# --- private data sent away ------------------------------------------------------------------------------------------

_SINK_WORDS = (
    *(
        "http",
        "ftp",
        "@",
        "webhook",
        "pastebin",
        "gist",
        "ngrok",
        "requestbin",
        "attacker",
        "server",
        "endpoint",
        "end point",
        "url",
    ),
    *("host", "service", "site", "address", "domain", "bucket", "api", "nc ", "/dev/tcp", "query", "dns"),
)
_AWAY = (
    Form(
        EXFILTRATION,
        r"\b(?:reveal|disclose|leak|expose|dump|hand over|give (?:out|away)|exfiltrate) "
        r"(?:all |any |every |the |your |its |their |stored |saved |user )+(?:[\w-]{1,20} )?"
        r"(?:credentials|secrets|passwords|api keys|private keys|access tokens|tokens)\b",
        ("reveal", "disclose", "leak", "expose", "dump", "hand over", "give ", "exfiltrate"),
    ),
    Form(EXFILTRATION, rf"\b{_SEND}(?:s|ing|ed)?\b[^.!?]{{0,120}}?{_SECRETS}.{{0,160}}?{_SINK}", _SINK_WORDS),
    Form(
        EXFILTRATION,
        rf"{_SECRETS}[^.!?]{{0,80}}? (?:to|into|via|at|as|in|\|) [^!?]{{0,60}}?(?:(?:external|remote|attacker|third[-"
        rf" ]party|outside|c2)"
        rf"[\w' -]{{0,20}}{_SERVER}|pastebin|ngrok|requestbin|/dev/tcp/|\bcurl\b|\bnc )",
        (
            "external",
            "remote",
            "attacker",
            "party",
            "outside",
            "c2",
            "pastebin",
            "ngrok",
            "requestbin",
            "/dev/tcp",
            "curl",
            "nc ",
        ),
    ),
    Form(
        EXFILTRATION,
        rf"\b(?:curl|wget|nc|scp|invoke-webrequest|fetch)\b.{{0,200}}?(?:(?<![\w/])@?{_HOME}|\$\((?:env|printenv|cat"
        rf"|base64)\b|`(?:env|printenv))"
        r"|(?:\benv\b|\bprintenv\b|\bcat [^|]{0,60}(?:\.env|\.ssh|id_rsa|credentials|/etc/passwd))[^"
        r"|]{0,60}\|.{0,80}?\b(?:curl|wget|nc|ncat)\b",
        ("curl", "wget", "nc ", "scp", "fetch", "invoke-webrequest", "ncat"),
    ),
)

# --- the same in other languages -------------------------------------------------------------------------------------

_THREE = r"(?:\w{1,15} ){0,3}?"
_OTHER_TONGUES = (
    Form(
        INSTRUCTION,
        rf"\b(?:ignorier|vergiss|vergesst|missachte|übergeh)\w* {_THREE}(?:vorherige|bisherige|obige|frühere"
        rf"|vorangegangene|system)\w* "
        r"(?:\w{1,15} ){0,2}?(?:anweisung|instruktion|regel|befehl|vorgabe)"
        rf"|\b(?:negeer|vergeet) {_THREE}(?:instructies|opdrachten|regels)|\b(?:zignoruj|ignoruj|zapomnij)"
        rf" {_THREE}(?:instrukcj|polece)",
        ("anweisung", "instruktion", "regel", "befehl", "vorgabe", "instruct", "instrukcj", "opdrachten", "polece"),
    ),
    Form(
        INSTRUCTION,
        rf"\b(?:ignor|olvid|descart|esque|desconsider|dimentica|trascura|oubli|néglig)\w* {_THREE}"
        r"(?:instrucci[oó]n|instru[cç][oõ]es|istruzioni|instructions|consignes|directives|ordres|órdenes|ordens"
        r"|ordini|reglas|regras|regole|règles)"
        r"\w* ?(?:\w{1,15} ){0,2}?(?:anterior|previ[aeo]s?|precedent|précédent|antérieur|d[eou]l? sist|du système"
        r"|acima|de arriba|ci-dessus)",
        (
            "instru",
            "istruz",
            "consignes",
            "directives",
            "ordres",
            "rdenes",
            "ordens",
            "ordini",
            "reglas",
            "regras",
            "regole",
            "règles",
        ),
    ),
    Form(
        INSTRUCTION,
        rf"\b(?:игнорируй|забудь|проигнорируй|не обращай внимания на)\w* {_THREE}(?:инструкци|указани|команд|правил)"
        r"|(?:忽略|无视|忘记|無視|忘記|不要理会)[^。\n]{0,12}?(?:指令|指示|提示|规则|規則|说明|說明)"
        r"|(?:指示|命令|ルール|プロンプト)[^。\n]{0,6}?(?:無視|忘れ)|(?:지시|명령|지침|프롬프트)[^.\n]{0,8}?(?:무시|잊)"
        r"|(?:تجاهل|انس)[^.\n]{0,20}?(?:التعليمات|الأوامر)|(?:पिछले|पूर्व)[^।\n]{0,20}?निर्देश[^।\n]{0,20}?(?:अनदेखा"
        r"|नज़रअंदाज़)",
        (
            *(
                "инструкци",
                "указани",
                "команд",
                "правил",
                "指令",
                "指示",
                "提示",
                "规则",
                "規則",
                "说明",
                "說明",
                "命令",
                "ルール",
            ),
            *("プロンプト", "지시", "명령", "지침", "프롬프트", "التعليمات", "الأوامر", "निर्देश"),
        ),
    ),
)

FORMS: tuple[Form, ...] = (*_OVERRIDES, *_ROLES, *_BEHIND, *_ALONE, *_AWAY, *_OTHER_TONGUES)
