"""What secrets look like (R004-20): rules as data, most telling first; `guard` reads them.

A pattern may name its parts: `v` or `qv` (quoted) is the secret itself, else the whole match is;
`rv` has to look random; `user` is the name beside it; `pair` holds both as name:secret;
`sep` marks an assignment, whose value has to look like a secret too.
Every repeat that something follows is bounded, so that no text can make a pattern slow.
"""

from typing import NamedTuple


class Shape(NamedTuple):
    """One kind of secret: pattern is tried only on texts holding one of the lower-case words."""

    kind: str
    label: str
    pattern: str
    words: tuple[str, ...]


UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_END = r"(?![A-Za-z0-9])"

# Known by a prefix or by their form alone: nothing around them matters, no line break inside hides them.
TOKENS: tuple[Shape, ...] = (
    # Clouds and hosting
    Shape(
        "aws-access-key",
        "AWS access key id",
        rf"(?:AKIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{{16}}{_END}",
        ("akia", "abia", "acca", "a3t"),
    ),
    Shape("aws-session-key", "AWS session key id", rf"ASIA[A-Z0-9]{{16}}{_END}", ("asia",)),
    Shape(
        "aws-bedrock",
        "AWS Bedrock API key",
        r"(?:ABSKQmVkcm9ja|bedrock-api-key-)[A-Za-z0-9+/=]{20,}",
        ("absk", "bedrock-api-key-"),
    ),
    Shape("google-api", "Google API key", rf"AIza[\w-]{{35}}{_END}", ("aiza",)),
    Shape(
        "google-oauth",
        "Google OAuth secret",
        r"GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{30,}",
        ("gocspx-", "ya29.", "1//0"),
    ),
    Shape("google-fcm", "Firebase server key", r"AAAA[\w-]{7}:APA91b[\w-]{40,}", (":apa91b",)),
    Shape("azure-client-secret", "Azure client secret", rf"[\w~.]{{3}}\dQ~[\w~.-]{{31,34}}{_END}", ("q~",)),
    Shape("alibaba", "Alibaba Cloud access key", rf"LTAI[A-Za-z0-9]{{12,26}}{_END}", ("ltai",)),
    Shape("tencent", "Tencent Cloud secret id", rf"AKID[A-Za-z0-9]{{32}}{_END}", ("akid",)),
    Shape("digitalocean", "DigitalOcean token", r"do[opr]_v1_[0-9a-fA-F]{40,}", ("dop_v1_", "doo_v1_", "dor_v1_")),
    Shape(
        "cloudflare",
        "Cloudflare key",
        r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|cf[a-z]{2}_[A-Za-z0-9]{36,}",
        ("v1.0-", "cfut_", "cfat_", "cfpt_", "cfk_"),
    ),
    Shape("heroku", "Heroku API key", r"HRKU-(?:AA[\w-]{50,}|" + UUID + ")", ("hrku-",)),
    Shape("fly", "Fly.io token", r"fo1_[\w-]{40,}|fm[12][ar]?_[A-Za-z0-9+/=]{60,}", ("fo1_", "fm1", "fm2_")),
    Shape("netlify", "Netlify token", r"nf[pcuo]_[A-Za-z0-9]{36,}", ("nfp_", "nfc_", "nfu_", "nfo_")),
    Shape(
        "vercel",
        "Vercel token",
        r"vc[pkiar]_[A-Za-z0-9]{40,}|vercel_blob_rw_[A-Za-z0-9_]{30,}",
        ("vcp_", "vck_", "vci_", "vca_", "vcr_", "vercel_blob_rw_"),
    ),
    Shape("render", "Render API key", rf"rnd_[A-Za-z0-9]{{28,40}}{_END}", ("rnd_",)),
    Shape("scalingo", "Scalingo token", r"tk-us-[\w-]{48}", ("tk-us-",)),
    Shape("supabase", "Supabase secret", r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}", ("sbp_", "sb_secret_")),
    Shape("planetscale", "PlanetScale credential", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,}", ("pscale_",)),
    Shape("tailscale", "Tailscale key", r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{16,}", ("tskey-",)),
    # Code hosting, packages, CI
    Shape("github-fine", "GitHub fine-grained token", r"github_pat_[A-Za-z0-9_]{36,}", ("github_pat_",)),
    Shape("github-pat", "GitHub personal token", r"ghp_[A-Za-z0-9]{20,}", ("ghp_",)),
    Shape("github-oauth", "GitHub OAuth token", r"gho_[A-Za-z0-9]{20,}", ("gho_",)),
    Shape("github-app", "GitHub app token", r"gh[us]_[A-Za-z0-9]{20,}", ("ghu_", "ghs_")),
    Shape("github-refresh", "GitHub refresh token", r"ghr_[A-Za-z0-9]{20,}", ("ghr_",)),
    Shape("gitlab", "GitLab personal token", r"glpat-[\w-]{20,}", ("glpat-",)),
    Shape("gitlab-runner", "GitLab runner token", r"glrt-[\w-]{20,}|GR1348941[\w-]{20,}", ("glrt-", "gr1348941")),
    Shape(
        "gitlab-other",
        "GitLab token",
        r"(?:gldt|glft|glffct|glimt|glsoat|glptt|glagent|gloas|glcbt|glwt)-[\w-]{20,}|_gitlab_session=\w{32}",
        (
            "gldt-",
            "glft-",
            "glffct-",
            "glimt-",
            "glsoat-",
            "glptt-",
            "glagent-",
            "gloas-",
            "glcbt-",
            "glwt-",
            "_gitlab_session=",
        ),
    ),
    Shape("bitbucket", "Bitbucket app password", rf"ATBB[A-Za-z0-9=_-]{{28,}}{_END}", ("atbb",)),
    Shape("atlassian", "Atlassian token", r"AT[AC]TT3[A-Za-z0-9_=-]{40,}", ("atatt3", "atctt3")),
    Shape(
        "npm-token",
        "npm token",
        rf"npm_[A-Za-z0-9]{{36,}}{_END}|_authToken[ \t]{{0,4}}=[ \t]{{0,4}}[\w+/=-]{{20,}}",
        ("npm_", "_authtoken"),
    ),
    Shape("pypi-token", "PyPI token", r"pypi-AgE[\w-]{30,}", ("pypi-age",)),
    Shape("rubygems", "RubyGems key", r"rubygems_[0-9a-f]{48}", ("rubygems_",)),
    Shape("nuget", "NuGet key", rf"oy2[a-z0-9]{{43}}{_END}", ("oy2",)),
    Shape("crates", "crates.io token", rf"cio[A-Za-z0-9]{{32}}{_END}", ("cio",)),
    Shape("clojars", "Clojars token", r"CLOJARS_[A-Za-z0-9]{60}", ("clojars_",)),
    Shape("docker-hub", "Docker Hub token", r"dckr_[po]at_[\w-]{20,}", ("dckr_",)),
    Shape(
        "artifactory", "Artifactory key", rf"(?:AKCp[A-Za-z0-9]{{60,}}|cmVmd[A-Za-z0-9]{{59}}){_END}", ("akcp", "cmvmd")
    ),
    Shape("buildkite", "Buildkite token", r"bk[a-z]{2}_[0-9a-f]{40}", ("bkua_", "bkaj_", "bkpa_", "bkct_")),
    Shape("circleci", "CircleCI token", r"CCI(?:PAT|PRJ)_\w{20,}", ("ccipat_", "cciprj_")),
    Shape("sonar", "Sonar token", rf"sq[apu]_[0-9a-f]{{40}}{_END}", ("sqa_", "sqp_", "squ_")),
    Shape("sourcegraph", "Sourcegraph token", r"sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}", ("sgp_",)),
    Shape("harness", "Harness token", r"[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", ("pat.", "sat.")),
    Shape("octopus", "Octopus Deploy key", rf"API-[A-Z0-9]{{25,32}}{_END}", ("api-",)),
    Shape("terraform", "Terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}", (".atlasv1.",)),
    Shape("pulumi", "Pulumi token", r"pul-[0-9a-f]{40}", ("pul-",)),
    Shape("prefect", "Prefect key", r"pn[ub]_[A-Za-z0-9]{36}", ("pnu_", "pnb_")),
    Shape("infracost", "Infracost token", rf"ico-[A-Za-z0-9]{{32}}{_END}", ("ico-",)),
    Shape("openshift", "OpenShift token", r"sha256~[\w-]{43}", ("sha256~",)),
    # Models
    Shape("anthropic", "Anthropic key", r"sk-ant-[\w-]{16,}", ("sk-ant-",)),
    Shape("openrouter", "OpenRouter key", r"sk-or-(?:v1-)?[\w-]{24,}", ("sk-or-",)),
    Shape(
        "openai", "OpenAI key", r"sk-(?:(?:proj|svcacct|admin|None|[a-z]{2,8})-[\w-]{24,}|[A-Za-z0-9]{20,})", ("sk-",)
    ),
    Shape("huggingface", "Hugging Face token", rf"(?:hf|api_org)_[A-Za-z0-9]{{30,}}{_END}", ("hf_", "api_org_")),
    Shape("groq", "Groq key", r"gsk_[A-Za-z0-9]{40,}", ("gsk_",)),
    Shape("xai", "xAI key", r"xai-[A-Za-z0-9]{60,}", ("xai-",)),
    Shape("perplexity", "Perplexity key", r"pplx-[A-Za-z0-9]{40,}", ("pplx-",)),
    Shape("replicate", "Replicate token", rf"r8_[A-Za-z0-9]{{37,}}{_END}", ("r8_",)),
    Shape("nvidia", "NVIDIA API key", r"nvapi-[\w-]{40,}", ("nvapi-",)),
    Shape("langsmith", "LangSmith key", r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}", ("lsv2_",)),
    Shape("tavily", "Tavily key", r"tvly-[\w-]{28,}", ("tvly-",)),
    # Chat and mail
    Shape("slack-bot", "Slack bot token", r"xoxb-(?=[\w-]{0,80}\d)[\w-]{8,}", ("xoxb-",)),
    Shape(
        "slack-user",
        "Slack token",
        r"xox[acdeoprs](?:\.xox[bp])?-(?=[\w-]{0,80}\d)[\w%-]{8,}",
        ("xoxa", "xoxc", "xoxd", "xoxe", "xoxo", "xoxp", "xoxr", "xoxs"),
    ),
    Shape("slack-app", "Slack app token", r"xapp-\d-[\w-]{10,}", ("xapp-",)),
    Shape(
        "slack-webhook",
        "Slack webhook",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[\w+/-]{20,}",
        ("hooks.slack",),
    ),
    Shape(
        "discord-webhook",
        "Discord webhook",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,}/[\w-]{30,}",
        ("/webhooks/",),
    ),
    Shape("teams-webhook", "Teams webhook", r"webhook\.office\.com/webhookb2/[\w@/-]{40,}", ("webhook.office.com",)),
    Shape(
        "discord-bot",
        "Discord bot token",
        rf"(?<![\w.-])(?:mfa\.[\w-]{{60,}}|[MNO][\w-]{{22,28}}\.[\w-]{{6}}\.[\w-]{{27,45}}){_END}",
        (".",),
    ),
    Shape("telegram-bot", "Telegram bot token", rf"\d{{8,10}}:A[\w-]{{33,36}}{_END}", (":a",)),
    Shape("twilio", "Twilio key", rf"SK[0-9a-fA-F]{{32}}{_END}", ("sk",)),
    Shape("sendgrid", "SendGrid key", r"SG\.[\w-]{16,32}\.[\w-]{32,}", ("sg.",)),
    Shape(
        "sendinblue",
        "Brevo key",
        r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}|xsmtpsib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
        ("xkeysib-", "xsmtpsib-"),
    ),
    Shape(
        "mailgun",
        "Mailgun key",
        rf"key-[0-9a-f]{{32}}{_END}|[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}(?![\w-])",
        ("key-", "mailgun"),
    ),
    Shape("mailchimp", "Mailchimp key", rf"[0-9a-f]{{32}}-us\d{{1,2}}{_END}", ("-us",)),
    Shape("resend", "Resend key", r"re_[A-Za-z0-9]{8,}_[A-Za-z0-9]{20,}", ("re_",)),
    # Money and shops
    Shape("stripe-live", "Stripe live key", r"[sr]k_(?:live|prod)_[A-Za-z0-9]{10,}", ("k_live_", "k_prod_")),
    Shape("stripe-test", "Stripe test key", r"[sr]k_test_[A-Za-z0-9]{10,}", ("k_test_",)),
    Shape("stripe-webhook", "Stripe webhook secret", r"whsec_[A-Za-z0-9+/=]{24,}", ("whsec_",)),
    Shape("shopify", "Shopify token", r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}", ("shp",)),
    Shape("square", "Square token", r"sq0[a-z]{3}-[\w-]{22,}|EAAA[\w-]{56,64}" + _END, ("sq0", "eaaa")),
    Shape(
        "braintree",
        "Braintree token",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
        ("access_token$",),
    ),
    Shape("plaid", "Plaid token", rf"access-(?:sandbox|development|production)-{UUID}", ("access-",)),
    Shape("razorpay", "Razorpay key", r"rzp_live_[A-Za-z0-9]{10,}", ("rzp_live_",)),
    Shape("flutterwave", "Flutterwave key", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,}", ("flwseck",)),
    Shape("shippo", "Shippo token", r"shippo_(?:live|test)_[0-9a-fA-F]{40}", ("shippo_",)),
    Shape("easypost", "EasyPost key", rf"EZ[AT]K[A-Za-z0-9]{{54}}{_END}", ("ezak", "eztk")),
    Shape("duffel", "Duffel token", r"duffel_(?:test|live)_[\w=-]{43}", ("duffel_",)),
    Shape("gocardless", "Payment live token", rf"(?<!_)live_[A-Za-z0-9_=-]{{35,60}}{_END}", ("live_",)),
    # Data, monitoring, work
    Shape("databricks", "Databricks token", rf"dapi[0-9a-h]{{32}}(?:-\d)?{_END}", ("dapi",)),
    Shape("clickhouse", "ClickHouse key", rf"4b1d[A-Za-z0-9]{{38}}{_END}", ("4b1d",)),
    Shape(
        "grafana",
        "Grafana token",
        r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/=]{32,}|eyJrIjoi[A-Za-z0-9]{50,}",
        ("glsa_", "glc_", "eyjrijoi"),
    ),
    Shape(
        "newrelic",
        "New Relic key",
        r"NR(?:AK|II|RA|BR|JS|IQ)-[A-Za-z0-9-]{19,}",
        ("nrak-", "nrii-", "nrra-", "nrbr-", "nrjs-", "nriq-"),
    ),
    Shape("datadog", "Datadog key", r"ddap[pi]_[A-Za-z0-9]{30,}", ("ddapp_", "ddapi_")),
    Shape("dynatrace", "Dynatrace token", r"dt0[a-zA-Z]\d{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}", ("dt0",)),
    Shape("sentry", "Sentry token", r"sntry[su]_[\w+/=-]{40,}", ("sntrys_", "sntryu_")),
    Shape("doppler", "Doppler token", r"dp\.(?:pt|ct|sa|scim|audit|st(?:\.[\w-]{1,40})?)\.[A-Za-z0-9]{40,}", ("dp.",)),
    Shape(
        "vault",
        "Vault token",
        rf"hv[sbr]\.[\w-]{{20,}}|s\.(?=[A-Za-z]{{0,23}}\d)[A-Za-z0-9]{{24}}{_END}",
        ("hvs.", "hvb.", "hvr.", "s."),
    ),
    Shape(
        "onepassword",
        "1Password secret",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"
        r"|ops_eyJ[A-Za-z0-9+/=]{60,}",
        ("a3-", "ops_eyj"),
    ),
    Shape("age-secret-key", "age secret key", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}", ("age-secret-key-1",)),
    Shape("linear", "Linear key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", ("lin_api_", "lin_oauth_")),
    Shape("notion", "Notion token", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}" + _END, ("ntn_", "secret_")),
    Shape("airtable", "Airtable token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", ("pat",)),
    Shape("asana", "Asana token", r"[0-2]/\d{14,20}(?:/\d{14,20})?:[0-9a-f]{32}", ("0/", "1/", "2/")),
    Shape("figma", "Figma token", r"fig[dour]{1,2}_[\w-]{36,}", ("figd_", "figu_", "figo_", "figor_", "figur_")),
    Shape("postman", "Postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", ("pmak-",)),
    Shape("readme", "ReadMe key", r"rdme_[a-z0-9]{70}", ("rdme_",)),
    Shape("typeform", "Typeform token", r"tfp_[\w.=-]{40,}", ("tfp_",)),
    Shape("contentful", "Contentful token", r"CFPAT-[\w-]{40,}", ("cfpat-",)),
    Shape("frameio", "Frame.io token", r"fio-u-[\w=-]{60,}", ("fio-u-",)),
    Shape("dropbox", "Dropbox token", r"sl\.(?:u\.)?[\w=-]{60,}", ("sl.",)),
    Shape("adafruit", "Adafruit key", rf"aio_[A-Za-z0-9]{{28}}{_END}", ("aio_",)),
    Shape("adobe", "Adobe client secret", rf"p8e-[A-Za-z0-9_-]{{32}}{_END}", ("p8e-",)),
    Shape("mapbox", "Mapbox secret token", r"sk\.eyJ[\w-]{20,}\.[\w-]{20,}", ("sk.eyj",)),
    Shape("maxmind", "MaxMind license key", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", ("_mmk",)),
    Shape(
        "facebook",
        "Facebook token",
        r"EAA[A-Z][A-Za-z0-9]{60,}|\d{15,16}(?:\||%7C)[\w-]{27,40}" + _END,
        ("eaa", "|", "%7c"),
    ),
    Shape("twitter", "Twitter bearer token", r"A{20,24}[A-Za-z0-9%]{60,}", ("aaaaaaaaaaaaaaaaaaaa",)),
    Shape(
        "yandex",
        "Yandex key",
        r"t1\.[A-Z0-9a-z_-]{2,300}={0,2}\.[\w-]{86}|AQVN[\w-]{35,38}|YC[\w-]{38}" + _END,
        ("t1.", "aqvn", "yc"),
    ),
    Shape("settlemint", "SettleMint token", r"sm_[aps]at_[A-Za-z0-9]{16}", ("sm_aat_", "sm_pat_", "sm_sat_")),
    Shape("intra42", "Intra 42 secret", r"s-s4t2(?:ud|af)-[0-9a-f]{64}", ("s-s4t2",)),
    Shape("dnkey", "Defined Networking key", r"dnkey-[\w=-]{26}-[\w=-]{52}", ("dnkey-",)),
    Shape(
        "authress",
        "Authress key",
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-]"
        r"[A-Za-z0-9-]{10,32}\.[\w+/=-]{30,}",
        (".acc_", ".acc-"),
    ),
    # Forms
    Shape("jwt", "JSON Web Token", r"(?<![\w-])eyJ[\w-]{8,4000}+\.eyJ[\w-]{8,}(?:\.[\w-]{0,4000})?", (".eyj",)),
    Shape(
        "jwe",
        "encrypted JSON Web Token",
        r"(?<![\w-])eyJ[\w-]{16,4000}+\.[\w-]{0,4000}\.[\w-]{10,40}\.[\w-]{10,}\.[\w-]{16,}",
        ("eyj",),
    ),
    Shape("jwt-base64", "base64 of a JSON Web Token", r"ZXlK[A-Za-z0-9+/=_-]{60,}", ("zxlk",)),
)

# Whole tokens behind prefixes that no word ends in: known inside a word too. A hash may hold a prefix by chance, but
# hardly one whose token ends with it.
WHOLE = (
    r"(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}|gl(?:pat|rt|dt|ptt|soat)-[\w-]{20,}"
    r"|sk-ant-[a-z]{2,8}\d\d-[\w-]{80,}|sk-(?:proj|svcacct)-[\w-]{70,}|sk-or-v1-[0-9a-f]{64}|gsk_[A-Za-z0-9]{52}"
    r"|xai-[A-Za-z0-9]{80}|hf_[A-Za-z0-9]{34}|nvapi-[\w-]{60,}|xox[abprs]-\d{9,13}-[\w-]{24,}|npm_[A-Za-z0-9]{36}"
    r"|pypi-AgE[\w-]{100,}|dckr_pat_[\w-]{27}|[sr]k_(?:live|test)_[A-Za-z0-9]{24}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"
    r"|do[opr]_v1_[0-9a-f]{64}|AIza[\w-]{35}|(?<![A-Z0-9])A[KS]IA[A-Z0-9]{16})(?![\w-])"
)

_BEGIN = r"-{4,5} ?BEGIN "
# What may stand between a name and its value: closing quotes, a short remark, one sign.
_QUOTES = r"[\"'`*\]\\]{0,4}"
_NOTE = r"(?:[ \t](?:for|of|on|to|in)[ \t][\w.@/-]{1,30}(?:[ \t][\w.-]{1,20}){0,2}|[ \t]\([^()\n]{1,40}\))?"
_SIGN = (
    rf"{_NOTE}{_QUOTES}(?:[ \t]{{0,12}}"
    r"(?::[ \t]{0,4}(?:str|string|String|bytes|&str|&'static str)[ \t]{0,4}=|"
    r"=>|->|→|:=|\?=|={1,3}|::?|\|\||(?<=[ \t])\||>|(?:(?<=[\"'`]),)|(?<=[\"'`])[ \t]value=)"
    r"|[ \t]+(?:is|was|ist|war|lautet|est|es|\xe9|\xe8|=)(?=[ \t]))[ \t]{0,8}"
    r"|[ \t](?=[\"'`])"
)
_VALUE = r"(?:\\?(?P<q>[\"'`])(?P<qv>[^\n]{1,200}?)\\?(?P=q)|(?P<v>[^\s\"'`,;&)<>]{1,200}))"


def _assigned(names: str, sign: str = _SIGN) -> str:
    # (?-i:...): `tokenizer` is another word, `tokenValue` is not.
    return rf"(?i)(?P<name>{names})(?-i:(?![a-z]))(?P<tail>[\w.-]{{0,24}})(?P<sep>{sign}){_VALUE}"


_PASSWORDS = (
    r"passw(?:or)?d|passwort|passphrase|passcode|(?<![a-z])pwd|(?<=[_.-])pass|(?<![a-z])pass(?=[ \t]{0,3}=)"
    r"|kennwort|mot de passe|contrase(?:\xf1|n)a|(?<![a-z])(?:senha|parola|heslo|has\u0142o)|wachtwoord|l(?:\xf6"
    r"|o)senord"
    r"|adgangskode"
)
# Russian and Ukrainian (its letters that look Latin are made so), Chinese, Japanese, Korean; what stands behind them.
_PASSWORDS_ELSEWHERE = (
    r"[\u041f\u043f][aA][pP][oO][\u043b\u041b][\u044c\u042c]|\u5bc6[\u7801\u78bc]|\u53e3\u4ee4"
    r"|\u30d1\u30b9\u30ef\u30fc\u30c9|\ube44\ubc00\ubc88\ud638"
)
_SIGN_ELSEWHERE = (
    r"[\"'`]?[ \t]{0,4}(?:[:=]|-(?=[ \t])|\u662f|\u4e3a|\u70ba|\u306f\u3001?|[\uc740\ub294](?=[ \t])"
    r"|\u044d\u0442[o\u043e](?=[ \t]))[ \t]{0,4}"
)
_KEYS = (
    r"(?:api|app|secret|access|private|auth|encryption|encrypt|signing|master|licen[sc]e|service|account|storage|"
    r"shared|session|subscription|admin|webhook|hmac|jwt|deploy|client|consumer|cookie|root)[ _.-]{0,2}key"
)


def _vendor(names: str, value: str) -> str:
    return (
        rf"(?i)(?<![a-z])(?:{names})[\w .-]{{0,20}}(?:key|token|secret|pat|auth)[\w.-]{{0,12}}"
        rf"{_QUOTES}[ \t]{{0,4}}(?:=>|:=|[=:]|is)?[ \t]{{0,4}}[\"'`]?(?P<v>{value})(?![\w-])"
    )


def _url(schemes: str) -> str:
    # What ends in a port or continues as a path is not a password.
    return (
        rf"(?i)\b(?:{schemes})://(?P<user>[^\s:/@?#\[\]\"'`<>]{{0,100}}):(?!\d{{1,5}}[/?#@])"
        r"(?P<v>[^\s/\"'`<>]{4,200})@(?!sha256:)[\w.\[$\{%-]"
    )


# Known by what stands around them.
CONTEXTS: tuple[Shape, ...] = (
    Shape(
        "rsa-private-key",
        "RSA private key",
        _BEGIN + r"RSA PRIVATE KEY|MII[A-Za-z0-9+/]{2,5}IBAAKC[A-Za-z0-9+/]{20,}",
        ("begin rsa", "ibaakc"),
    ),
    Shape("ec-private-key", "EC private key", _BEGIN + "EC PRIVATE KEY", ("begin ec",)),
    Shape("dsa-private-key", "DSA private key", _BEGIN + "DSA PRIVATE KEY", ("begin dsa",)),
    Shape(
        "openssh-private-key",
        "OpenSSH private key",
        _BEGIN + r"OPENSSH PRIVATE KEY|b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{20,}",
        ("begin openssh", "b3blbnnzac1rzxktdje"),
    ),
    Shape("pgp-private-key", "PGP private key", _BEGIN + "PGP PRIVATE KEY BLOCK", ("begin pgp",)),
    Shape("putty-private-key", "PuTTY private key", r"PuTTY-User-Key-File-\d", ("putty-user-key-file-",)),
    Shape(
        "private-key",
        "private key",
        _BEGIN + r"(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY|MII[A-Za-z0-9+/]{2,5}IBADANBgkq[A-Za-z0-9+/]{20,}",
        ("private key", "ibadanbgkq"),
    ),
    Shape(
        "private-key-base64",
        "base64 of a private key",
        r"LS0tLS1CRUdJTi(?:BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BQUklWQVRF|BPUEVOU1NIIF|BFTkNSWVBURUQgU)"
        r"[A-Za-z0-9+/=]{20,}",
        ("ls0tls1crudjti",),
    ),
    Shape(
        "gcp-service-account",
        "Google service account key",
        r"\"private_key_id\\?\"\s{0,4}:\s{0,4}\\?\"[0-9a-f]{40}",
        ("private_key_id",),
    ),
    Shape(
        "aws-secret-key",
        "AWS secret key",
        r"(?i)(?:aws|amazon|secret[ _-]?access)[\w .-]{0,24}(?:key|secret|sk)[\"'`\]*]{0,3}"
        r"[ \t]{0,4}(?:=>|:=|[=:]|is)?[ \t]{0,4}"
        r"[\"'`]?(?P<v>(?-i:(?=[^A-Z\s]{0,39}[A-Z])(?=[^a-z\s]{0,39}[a-z]))[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        ("aws", "access", "amazon"),
    ),
    Shape(
        "aws-session-token",
        "AWS session token",
        r"(?i)session_?token[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?P<v>[A-Za-z0-9+/=]{100,})",
        ("session_token", "sessiontoken"),
    ),
    Shape("azure-storage", "Azure storage key", r"(?i)AccountKey=(?P<v>[A-Za-z0-9+/]{40,}={0,2})", ("accountkey=",)),
    Shape(
        "azure-shared-key",
        "Azure shared access key",
        r"(?i)SharedAccessKey=(?P<v>[A-Za-z0-9+/]{32,}={0,2})",
        ("sharedaccesskey=",),
    ),
    Shape("azure-sas", "Azure SAS signature", r"(?i)[?&;]sig=(?P<v>[A-Za-z0-9%+/]{30,}={0,2})", ("sig=",)),
    Shape(
        "aws-presigned",
        "signed URL",
        r"(?i)X-(?:Amz|Goog)-(?:Signature|Security-Token)=(?P<v>[A-Za-z0-9%+/]{40,})",
        ("-signature=", "-security-token="),
    ),
    Shape("postgres-url", "Postgres URL with a password", _url(r"postgres(?:ql)?(?:\+\w{1,12})?"), ("postgres",)),
    Shape("mysql-url", "MySQL URL with a password", _url(r"(?:mysql|mariadb)x?(?:\+\w{1,12})?"), ("mysql", "mariadb")),
    Shape("mongodb-url", "MongoDB URL with a password", _url(r"mongodb(?:\+srv)?"), ("mongodb",)),
    Shape("redis-url", "Redis URL with a password", _url(r"rediss?|valkeys?"), ("redis", "valkey")),
    Shape("amqp-url", "AMQP URL with a password", _url(r"amqps?"), ("amqp",)),
    Shape(
        "mssql-url",
        "SQL Server URL with a password",
        _url(r"(?:mssql|sqlserver|oracle)(?:\+\w{1,12})?"),
        ("mssql", "sqlserver", "oracle"),
    ),
    Shape("basic-auth-url", "URL with a password", _url(r"[a-z][a-z0-9+.-]{1,20}"), ("://",)),
    Shape(
        "jdbc-url",
        "JDBC URL with a password",
        r"(?i)jdbc:[a-z0-9]{2,20}:(?:thin:)?(?P<user>[\w$#]{1,60})/(?P<v>[^\s@/\"'<>]{3,100})@",
        ("jdbc:",),
    ),
    Shape(
        "sidekiq",
        "Sidekiq credential",
        r"(?i)contribsys__?com[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?P<v>[0-9a-f]{8}:[0-9a-f]{8})",
        ("contribsys",),
    ),
    Shape(
        "authorization-header",
        "Authorization header",
        r"(?i)authorization[\"'`]?[ \t]{0,4}[:=,][ \t]{0,5}[\"'`]?"
        r"(?:(?:basic|bearer|(?:api[-_]?)?token|api-?key|digest|"
        r"negotiate|ntlm)[ \t]{1,4})?(?P<rv>(?!(?:basic|bearer|token)\b)[\w=~@.+/-]{8,4000})(?![\w({])",
        ("authorization",),
    ),
    Shape("bearer-token", "bearer token", r"(?i)\bbearer[ \t]{1,4}(?P<rv>[\w=~.+/-]{20,4000})", ("bearer",)),
    Shape(
        "curl-user",
        "password in a curl command",
        r"(?i)\bcurl\b[^\n]{0,1000}?\s(?:-u|--user|--proxy-user)(?:=|[ \t]{0,5})"
        r"(?P<pair>(?:\"[^\"\n]{3,200}\"|'[^'\n]{3,200}'|[^\s\"'`]{1,200})(?:[\"'][^\s\"']{3,100}[\"'])?)",
        ("curl",),
    ),
    Shape(
        "cli-password",
        "password in a command",
        r"(?i)(?:sshpass[ \t]+-p[ \t]*|mysql(?:dump|admin)?\b[^\n|]{0,80}[ \t]-p|"
        r"redis-cli\b[^\n|]{0,80}[ \t]-a[ \t]+)"
        r"[\"']?(?P<v>[^\s\"'<-][^\s\"'<]{3,100})",
        ("sshpass", "mysql", "redis-cli"),
    ),
    Shape(
        "cli-password",
        "password in a command",
        r"(?i)\b(?:login|mongo(?:sh|dump|restore)?|ldap\w{3,10}|sqlcmd|mariadb(?:-dump)?|cqlsh|vault|svn)\b"
        r"[^\n|]{0,80}?[ \t](?:-u|-U|--username|--user|-D)(?:=|[ \t]{0,4})\S{1,80}[^\n|]{0,80}?[ \t]"
        r"(?:-p|-w|--password)(?:=|[ \t]{0,4})[\"']?(?P<v>[^\s\"'<=-][^\s\"'<]{3,100})",
        ("login", "mongo", "ldap", "sqlcmd", "mariadb", "cqlsh", "svn"),
    ),
    Shape(
        "cli-password",
        "password in a command",
        r"(?i)\b(?:docker|podman|nerdctl|buildah|skopeo|oras|helm|az)\b[^\n|]{0,40}\blogin\b[^\n|]{0,80}?[ \t]"
        r"(?:-p|--password)(?:=|[ \t]{0,4})[\"']?(?P<rv>[^\s\"'<=-][^\s\"'<]{5,100})",
        ("login",),
    ),
    Shape(
        "netrc",
        "netrc entry",
        r"(?i)\bmachine[ \t]+\S{1,100}\s{1,8}login[ \t]+\S{1,100}\s{1,8}password[ \t]+(?P<v>\S{4,200})",
        ("machine",),
    ),
    Shape(
        "docker-auth",
        "registry login",
        r"\"auth\\?\"\s{0,4}:\s{0,4}\\?\"(?P<v>[A-Za-z0-9+/]{12,}={0,2})\\?\"",
        ("auth",),
    ),
    Shape(
        "kubernetes-secret",
        "Kubernetes Secret",
        r"(?i)\bkind:[ \t]{0,4}[\"']?secret[\"']?[ \t]*\r?\n(?:[^\n]{0,200}\n){0,12}?"
        r"[ \t]{0,8}(?:string)?data:[ \t]*\r?\n(?:[ \t]{0,8}#[^\n]{0,100}\n)?"
        r"[ \t]{1,12}[\w.-]{1,80}:[ \t]{0,4}(?:[|>][+-]?\s{1,12})?[\"']?(?P<v>[A-Za-z0-9+/]{10,}={0,2})",
        ("kind:",),
    ),
    Shape(
        "session-cookie",
        "session cookie",
        r"(?i)(?<![a-z])(?:[\w.-]{0,20}sess(?:ion)?(?:[_-]?id)?|connect\.sid|phpsessid|jsessionid)="
        r"(?P<rv>(?=[\w%.+/=-]{0,60}\d)[\w%.+/=-]{16,400})",
        ("sess", "connect.sid"),
    ),
    Shape(
        "seed-phrase",
        "wallet seed phrase",
        r"(?i)(?:seed|recovery|mnemonic|backup)(?:[ _-](?:phrase|words))?[\"'`]?"
        r"[ \t]{0,4}(?:=|:|is)[ \t]{0,4}[\"'`]?"
        r"(?:[a-z]{3,8}[ ]){11}(?:(?:[a-z]{3,8}[ ]){3}){0,4}[a-z]{3,8}[\"'`.]{0,2}[ \t]*(?:\n|$)",
        ("seed", "recovery", "mnemonic", "backup"),
    ),
    Shape("heroku", "Heroku API key", _vendor("heroku", UUID), ("heroku",)),
    Shape("datadog", "Datadog key", _vendor("datadog|dd", r"[0-9a-f]{32}(?:[0-9a-f]{8})?"), ("datadog", "dd")),
    Shape("cloudflare", "Cloudflare key", _vendor("cloudflare", r"[0-9a-f]{37}"), ("cloudflare",)),
    Shape("okta", "Okta token", _vendor("okta", r"00[\w-]{40}"), ("okta",)),
    Shape("twilio", "Twilio auth token", _vendor("twilio", r"[0-9a-f]{32}"), ("twilio",)),
    Shape("snyk", "Snyk token", _vendor("snyk", UUID), ("snyk",)),
    Shape("discord-secret", "Discord secret", _vendor("discord", r"[0-9a-f]{64}"), ("discord",)),
    Shape(
        "password-assign",
        "password",
        _assigned(_PASSWORDS),
        tuple(
            "passw passphrase passcode pwd pass kennwort contrase senha wachtwoord parola heslo has\u0142o senord"
            " adgangskode".split()
        ),
    ),
    Shape(
        "password-assign",
        "password",
        rf"(?P<name>{_PASSWORDS_ELSEWHERE})(?P<tail>)(?P<sep>{_SIGN_ELSEWHERE})"
        r"(?:(?P<q>[\"'`])(?P<qv>[^\n]{1,200}?)(?P=q)|(?P<v>[\w!#$%^&*+=~@./?-]{6,200}))",
        ("\u043fapo", "\u5bc6\u7801", "\u5bc6\u78bc", "\u53e3\u4ee4", "\u30d1\u30b9\u30ef", "\ube44\ubc00"),
    ),
    Shape("generic-api-key", "API key", _assigned(_KEYS), ("key",)),
    Shape(
        "generic-secret",
        "secret",
        _assigned(r"secret(?:[ _.-]{0,2}(?:key|token))?|credentials?|creds"),
        ("secret", "cred"),
    ),
    Shape("generic-token", "token", _assigned(r"token|(?<![a-z])_?pat(?=[ \t]{0,3}=)"), ("token", "pat")),
    Shape(
        "generic-key", "key", _assigned(r"(?<![\w-])key", _QUOTES + r"(?:=|[ \t]{0,2}:[ \t]{0,4}(?=[\"'`]))"), ("key",)
    ),
    Shape(
        "spoken-secret",
        "secret",
        r"(?i)(?:passw(?:or)?d|secret|token|api[ _-]?key|credential)[ \t]{1,3}"
        r"(?P<rv>[\w+/=!#$%^*~-]{12,200})(?![\w(.])",
        ("passw", "secret", "token", "key", "credential"),
    ),
)
