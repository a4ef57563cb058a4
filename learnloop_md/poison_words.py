"""The words that poisoned texts are made of, as parts of patterns; `poison_shapes` puts them together."""


def hints(words: str) -> tuple[str, ...]:
    """The words; `_` stands for a space in one."""
    return tuple(word.replace("_", " ") for word in words.split())


def any_of(words: str) -> str:
    """One of the words; `_` stands for a space in one."""
    return f"(?:{'|'.join(word.replace('_', ' ') for word in words.split())})"


FEW = r"(?:[\w'’,-]{1,20} ){0,4}?"
TWO = r"(?:[\w'’-]{1,20} ){0,2}?"
DROP = any_of(
    r"ignor(?:e|ing) disregard(?:ing)? forget(?:ting)? overrid(?:e|es|ing) bypass(?:ing)? discard(?:ing)? supersedes? "
    r"neglect(?:ing)? abandon(?:ing)? disobey(?:ing)? replaces? set_aside put_aside throw_away let_go_of "
    r"pay_no_attention_to (?:do_not|don't|dont|stop|never|no_longer)_(?:follow|obey|comply_with|listen_to|heed)(?:ing)?"
)
EARLIER = any_of(
    "previous prior earlier preceding foregoing above former original initial system safety developer built-in hidden"
    " your"
)
OTHER = any_of("other existing default old last past current")
EVERY = any_of("all any every each everything whatever")
# What is told to whoever reads along, and where it stands when that is said behind it: "the rules listed above".
TOLD = any_of(
    "instructions? directives? directions orders rules guidelines? guidance constraints restrictions policies prompts?"
    " commands messages text"
)
THESE = r"(?:(?:all|any|every|each|everything|of|the|these|those|your|such|other|existing) ){0,4}"
_END = r"(?=[.,;:!?)]| ?[–—-]|$| (?:and|but|then|or|instead|completely|entirely|altogether|from now|in favou?r)\b)"
_HERE = r"this (?:line|point|message|text|file|note|lesson|one|rule|paragraph|sentence)\b"
_BEFORE = (
    r"(?:(?:that|which|who|is|are|was|were|stands?|came|comes?|been|has|have|had|you|i|we|listed|stated|given|written"
    r"|shown|said|told|received|got|set out|to) ){0,5}"
)
_TIME = r"(?:above|before|earlier|previously|so far|until now|beforehand)"
_FROM = rf"(?:above|before|up to|until|preced(?:e|es|ed|ing)) {_HERE}"
BEFORE_THIS = rf"{_BEFORE}(?:{_TIME}{_END}|{_FROM})"  # at the end of what is said
BEFORE = rf"{_BEFORE}(?:{_TIME}|{_FROM})"
ORDERS = (
    any_of("instructions? directives? prompts? guardrails? orders programming training safeguards? system_message")
    + r"(?! (?:templates?|files?|versions?|tokens?|caches?|lengths?|engines?|formats?|snippets?|fixtures?|tests?"
    r"|names?|ids?))"
)
RULES = any_of(
    r"rules? guidelines? guidance(?!_(?:on|about|for|in)\b) messages? contexts? commands? polic(?:y|ies) constraints?"
    r" restrictions? limitations? safety"
)
TELL = any_of(
    "reveal print output show repeat display leak disclose dump expose recite return tell_me give_me write_out"
)
SAID = any_of("said told written given read instructed above before so_far previously known? learned")
ORDER_WORDS = hints("instruction directive prompt guardrail orders programming training safeguard message")
RULE_WORDS = hints("rule guideline guidance message context command polic constraint restriction limit safety")
TOLD_WORDS = hints(
    "instruction directive direction orders rules guideline guidance constraint restriction polic prompt command"
    " message text"
)
PERSON = r"(?:the |a |your |any )?" + any_of(
    "users? humans? developers? operators? owners? maintainers? persons? people anyone anybody reviewers?"
)
LEAVE = any_of("confirmations? permissions? approvals? consent authori[sz]ation sign-?off go-ahead clearance")
UNBOUND = any_of("unrestricted unfiltered uncensored jailbroken dan unlimited evil lawless")
NO = r"(?:do not|don't|dont|never|must not)"
MODEL = (
    r"(?:ai|llm|language model|claude|assistant|chatbot|copilot|coding agent|agent)s?"
    r"(?: (?:agent|assistant|model|system)s?)?"
)

# What is done to the machine or the work, in general: nobody is asked before it.
ACTING = (
    r"\b(?:act(?:ing)?\b|(?:run|execut|issu|invok)(?:e|ning|ing)? (?:(?:an?|any|all|every|the|your|its|these|those|such"
    r"|shell|bash|terminal|system) ){0,3}commands?\b|(?:chang|edit|modify|overwrit|remov|install|writ)(?:e|ing)? "
    r"(?:any |the |all |your )?(?:files?|code|any ?thing|settings|configuration|packages?|software)\b"
    r"|commands? (?:are|is|may|can|must|should|to) (?:to )?be (?:run|executed|issued)\b)"
)
# What nobody may do unasked: beside it "without asking" counts, beside the formatter it does not.
DANGEROUS = (
    r"\b(?:force[- ]?push\w*|push(?:es|ing)?\b|deploy\w*|delet\w+|merg(?:e|es|ing)\b|publish\w*"
    r"|releas(?:e|ing)\b|send(?:ing)?\b"
    r"|drop(?:ping)? (?:the |all |any |every )*(?:\w+ )?(?:tables?|data)|e-?mail\w*|pay\w*|transfer\w*|purchas\w+"
    r"|buy\w*"
    r"|disabl\w+|sudo\b|root\b|overwrit\w+|production|prod\b|rm -rf|wip(?:e|ing)\b|truncat\w+|destruct\w+|dangerous\w*"
    r"|irreversibl\w+|upload\w*|credentials?|secrets?|privileg\w+|kill\w*|shell|any ?thing\b|everything|whatever"
    r"|proceed\w*"
    r"|(?:all|any|every|each) (?:\w+ )?(?:commands?|actions?|tools?|changes?|requests?|exports?|operations?)"
    r"|commands? with"
    r"|approv\w+|grant\w*|autonomous\w*|to main\b|terraform|internal tools)"
)
# What may be done in any project without asking.
HARMLESS = (
    r"[^.;]{0,12}?\b(?:re-?)?run(?:ning)? (?:the |all |any )?(?:[\w-]{1,20} )?(?:tests?|linters?|lint|checks?"
    r"|formatters?|type ?checks?|type checker|unit tests|suite|build|benchmarks?|mypy|ruff|pytest|prettier|eslint)\b"
    r"|[^.;]{0,12}?\bre-?run(?:ning)? (?:an? |the |any )?(?:flaky|failed|failing) (?:\w{1,20} )?(?:jobs?|workflows?)\b"
    r"|[^.;]{0,4}?for (?:the |any |small |trivial )*"
    r"(?:docs?|documentation|typos?|formatting|lint|tests?|comments?|reading)\b"
    r"| (?:to|for) (?:(?:send|show|use|access|display) )?(?:the |push |local ){0,2}(?:notifications?|camera|microphone"
    r"|(?:geo)?location|contacts|photos|bluetooth)\b"
    r"|[^.;]{0,12}?(?:before|to|for|when|while) (?:you )?(?:read|format|lint|test|search|grep|list|look|view"
    r"|fix(?:ing)? (?:typos?|lint|formatting)|type-?check|build|compil|inspect|explor|open)(?:t?ing|e)?\b"
)

# What a text is called that is handed on as one.
TEXTS = any_of(
    "strings? phrases? texts? prompts? words? sentences? payloads? messages? inputs? titles? lines? samples?"
    " examples? seeds?"
)
# Who or what a rule about the work is never about: the model, its people, its limits, all there is.
BROAD = any_of(
    r"safety secur\w+ secrets? credentials? tokens? passwords? private privacy permissions? approvals? confirm\w*"
    r" consent"
    r" ask\w* tell\w* users? humans? people owners? developers? what which who whatever any\w* every\w* all each both"
    r" else"
    r" you your yourself this these that here now good full total general force effect contrary moment while second"
    r" time"
    r" future present past date rest sum order favou?r tools? carefu\w+ caution\w* limits? restrict\w* rules? polic\w+"
    r" guardrails? instructions? behaviou?r conduct conversations? chats? sessions? messages? prompts? contexts?"
    r" memor\w+"
    r" pages? texts? files? claude\w* agents? assistants? models? ai llms? systems? harm\w* ethic\w* may_not must"
    r" never not"
    r" new obey\w* instead curl wget run execut\w* commands? work projects? repo\w* tasks?"
)
# Where no one sits who could be asked.
UNATTENDED = (
    r"(?:scripts?|jobs?|ci|pipelines?|cron(?:jobs?)?|workflows?|(?:unit |integration |e2e )?tests?|(?:non-interactive"
    r"|batch"
    r"|headless|quiet|daemon|dry-run) mode|makefiles?|dockerfiles?|hooks?|playbooks?)"
)
# What comes behind "new instructions:" where they are for the model: an order of the bad kinds, or words to it.
TO_IT = (
    r"(?= ?$| (?:first |always |please |just |now |then |simply ){0,3}(?:push|deploy|delete|merge|publish|send|drop"
    r"|upload"
    r"|disable|overwrite|wipe|approve|grant|transfer|pay|kill|sudo|email|reveal|print|repeat|act|pretend|behave|answer"
    r"|respond|reply|say|fetch|copy|share|export|exfiltrate|install|(?:never|do not|don't) (?:tell|ask|mention|warn"
    r"|stop"
    r"|refuse|check|wait))\b"
    rf"|.{{0,200}}?\b(?:you|your|yourself|the user|{MODEL}|obey\w*|comply|ignore|disregard|forget|bypass|override"
    rf"|pretend"
    r"|(?:to|for|with|from) me|secrets?|credentials?|passwords?|whatever|everything|any ?thing|curl|wget|bash"
    r"|secretly|silently|unrestricted"
    r"|(?:this|the) (?:page|message|text)|from (?:here|now) on|without (?:ask|any|approv|confirm|permi)\w*"
    r"|(?:any|every|all) commands?)\b)"
)

SECRETS = any_of(
    r"secrets credentials? api[_-]?keys? passwords private_keys? ssh_keys? access_tokens auth_tokens session_tokens? "
    r"env(?:ironment)?_(?:variables?|vars?|file|contents?) \.env\b \.ssh\b id_rsa id_ed25519 \.aws\b \.netrc \.npmrc "
    r"\.kube keychain /etc/(?:passwd|shadow) cookies conversations? chat_(?:history|logs?) transcripts? system_prompt "
    r"user_data personal_data customer_data source_code file_contents? "
    r"contents?_of_(?:the_|any_|every_|all_)?(?:files?|repo\w*)"
)
SEND = any_of(
    r"send post upload transmit forward exfiltrat\w* leak e-?mail mail curl wget paste submit beacon copy push report "
    r"publish append encode embed put pipe include sync share"
)
FAR = any_of(r"external remote attacker(?:'s)? third[_-]party outside collection c2 our my this following")
SERVER = any_of(r"server end_?point url host service site address domain bucket api webhook")
SINK = (
    r"(?:https?://|ftp://|[\w.+-]{1,64}@[\w-]{1,63}\.[a-z]{2,}|webhook|pastebin|\bgists?\b|ngrok|requestbin|attacker"
    rf"|{FAR} {SERVER}|\bnc \S|/dev/tcp/|query (?:string|parameter)|image url|dns (?:query|lookup))"
)
HOME = r"(?:~|\$home|/root|/home/[\w.-]{1,40})?/?\.(?:env|ssh|aws|netrc|npmrc|kube|gnupg)\b|/etc/(?:passwd|shadow)"
