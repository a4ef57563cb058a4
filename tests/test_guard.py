"""Secrets are refused and never repeated; talk about secrets is not.

No example stands here in one piece: scanners read this file too. `fill` makes the random-looking parts.
"""

import json
import random
import subprocess
import sys
import time
from base64 import b32encode, b64encode, urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import guard
from learnloop_md.errors import RefusedError
from learnloop_md.guard import find_secrets, refuse_secrets
from learnloop_md.secret_shapes import CONTEXTS, TOKENS
from tests.clock import within

DATA = Path(__file__).parent / "data"
MIXED = "a7Kq2" + "Zx9Rb" + "4Tm1W" + "c8Ld5"
LOWER = "k3q9z" + "x7r2b" + "8t5m1"
UPPER = "Q7ZX2" + "KDM5V" + "HT3RB"
HEX = "3f9a0" + "c7e1b" + "8d246"


def fill(length: int, alphabet: str = MIXED) -> str:
    return (alphabet * (length // len(alphabet) + 1))[:length]


def digits(length: int) -> str:
    return fill(length, "48" + "15162342")


UUID = "-".join(fill(length, HEX) for length in (8, 4, 4, 4, 12))
BEGIN, END_OF_HEAD = "-----" + "BEGIN ", "-----"
KEY = "PRIVATE" + " KEY"
PASSWORD = fill(9) + "!q"

# kind: (refused, allowed)
EXAMPLES: dict[str, tuple[str, str]] = {
    "aws-access-key": ("AKIA" + fill(16, UPPER), "AKIA" + "IOSFODNN7" + "EXAMPLE"),
    "aws-session-key": ("ASIA" + fill(16, UPPER), "the ASIA region"),
    "aws-bedrock": ("ABSK" + "QmVkcm9ja" + fill(40), "a bedrock-api-key-name"),
    "google-api": ("AIza" + fill(35), "AIza is the prefix"),
    "google-oauth": ("GOCSPX" + "-" + fill(28), "GOCSPX-your-secret-goes-here-please"),
    "google-fcm": ("AAAA" + fill(7) + ":APA91b" + fill(60), "topic:APA91b"),
    "azure-client-secret": (fill(3) + "8Q~" + fill(34), "Q~ is in the middle"),
    "alibaba": ("LTAI" + fill(20), "the LTAI prefix"),
    "tencent": ("AKID" + fill(32), "AKID is short"),
    "digitalocean": ("dop_v1_" + fill(64, HEX), "dop_v1_ and doo_v1_ are prefixes"),
    "cloudflare": ("v1.0-" + fill(24, HEX) + "-" + fill(146, HEX), "v1.0-beta-2"),
    "heroku": ("HRKU-" + "AA" + fill(58), "HRKU-AA is the prefix"),
    "fly": ("fo1_" + fill(43), "fo1_name"),
    "netlify": ("nfp_" + fill(40), "nfp_settings"),
    "vercel": ("vcp_" + fill(56), "vcp_settings"),
    "render": ("rnd_" + fill(32), "rnd_state"),
    "scalingo": ("tk-us-" + fill(48), "tk-us-east"),
    "supabase": ("sbp_" + fill(40, HEX), "sb_secret_ keys"),
    "planetscale": ("pscale_tkn_" + fill(43), "pscale_tkn_ prefix"),
    "tailscale": ("tskey-auth-" + fill(30), "tskey-auth"),
    "github-fine": ("github_pat_" + fill(82), "github_pat_ is newer"),
    "github-pat": ("ghp_" + fill(36), "ghp_" + "x" * 36),
    "github-oauth": ("gho_" + fill(36), "gho_token_name"),
    "github-app": ("ghs_" + fill(36), "ghs_ and ghu_"),
    "github-refresh": ("ghr_" + fill(76), "ghr_..."),
    "gitlab": ("glpat-" + fill(20), "glpat-your-token-here-please"),
    "gitlab-runner": ("glrt-" + fill(20), "glrt-runner"),
    "gitlab-other": ("gldt-" + fill(20), "gldt-deploy"),
    "bitbucket": ("ATBB" + fill(32), "ATBB prefix"),
    "atlassian": ("ATATT3" + fill(186), "ATATT3 prefix"),
    "npm-token": ("npm_" + fill(36), "npm_config_registry_fetch_timeout_in_milliseconds"),
    "pypi-token": ("pypi-" + "AgE" + fill(150), "pypi-agent-tools"),
    "rubygems": ("rubygems_" + fill(48, HEX), "rubygems_version"),
    "nuget": ("oy2" + fill(43, LOWER), "oy2"),
    "crates": ("cio" + fill(32), "cio"),
    "clojars": ("CLOJARS_" + fill(60), "CLOJARS_TOKEN"),
    "docker-hub": ("dckr_pat_" + fill(27), "dckr_pat_"),
    "artifactory": ("AKCp" + fill(69), "AKCp prefix"),
    "buildkite": ("bkua_" + fill(40, HEX), "bkua_"),
    "circleci": ("CCIPAT_" + fill(40), "CCIPAT_"),
    "sonar": ("sqp_" + fill(40, HEX), "sqp_"),
    "sourcegraph": ("sgp_" + fill(40, HEX), "sgp_local"),
    "harness": ("pat." + fill(22) + "." + fill(24) + "." + fill(20), "pat.example.org"),
    "octopus": ("API-" + fill(26, UPPER), "API-VERSION"),
    "terraform": (fill(14) + ".atlasv1." + fill(67), "x.atlasv1.y"),
    "pulumi": ("pul-" + fill(40, HEX), "pul-stack"),
    "prefect": ("pnu_" + fill(36), "pnu_"),
    "infracost": ("ico-" + fill(32), "ico-file"),
    "openshift": ("sha256~" + fill(43), "sha256~"),
    "anthropic": ("sk-ant-" + "api03-" + fill(95), "sk-ant-..."),
    "openrouter": ("sk-or-v1-" + fill(64, HEX), "sk-or-v1-..."),
    "openai": ("sk-" + "proj-" + fill(80), "sk-your-key-here-please-replace-me"),
    "huggingface": ("hf_" + fill(34), "hf_your_token_goes_here"),
    "groq": ("gsk_" + fill(52), "gsk_name"),
    "xai": ("xai-" + fill(80), "xai-sdk"),
    "perplexity": ("pplx-" + fill(48), "pplx-7b-online"),
    "replicate": ("r8_" + fill(37), "r8_"),
    "nvidia": ("nvapi-" + fill(64), "nvapi-key"),
    "langsmith": ("lsv2_pt_" + fill(32, HEX) + "_" + fill(10, HEX), "lsv2_pt"),
    "tavily": ("tvly-" + fill(32), "tvly-dev"),
    "slack-bot": ("xoxb-" + digits(12) + "-" + fill(24), "xoxb-your-token-here"),
    "slack-user": ("xoxp-" + digits(12) + "-" + fill(32), "xoxp- tokens"),
    "slack-app": ("xapp-1-" + fill(40, UPPER), "xapp-1"),
    "slack-webhook": ("https://hooks.slack" + ".com/services/" + fill(40), "https://hooks.slack.com/services/..."),
    "discord-webhook": ("discord" + ".com/api/webhooks/" + digits(18) + "/" + fill(68), "api/webhooks/{id}/{token}"),
    "teams-webhook": ("acme.webhook.office" + ".com/webhookb2/" + fill(80), "webhook.office.com/webhookb2/<id>"),
    "discord-bot": ("M" + fill(23) + "." + fill(6) + "." + fill(38), "Module.class_.method_name"),
    "telegram-bot": (digits(10) + ":A" + fill(34), "12:Arrival"),
    "twilio": ("SK" + fill(32, HEX), "AC" + fill(32, HEX)),
    "sendgrid": ("SG." + fill(22) + "." + fill(43), "SG.x.y"),
    "sendinblue": ("xkeysib-" + fill(64, HEX) + "-" + fill(16), "xkeysib-..."),
    "mailgun": ("key-" + fill(32, HEX), "key-value-store"),
    "mailchimp": (fill(32, HEX) + "-us12", "eu-us12"),
    "resend": ("re_" + fill(8) + "_" + fill(24), "re_compile_pattern"),
    "stripe-live": ("sk_live_" + fill(24), "sk_live_... keys"),
    "stripe-test": ("sk_test_" + fill(24), "the pk_test key name"),
    "stripe-webhook": ("whsec_" + fill(32), "whsec_..."),
    "shopify": ("shpat_" + fill(32, HEX), "shpat_"),
    "square": ("sq0atp-" + fill(22), "sq0atp-"),
    "braintree": ("access_token$production$" + fill(16, LOWER) + "$" + fill(32, HEX), "access_token$x"),
    "plaid": ("access-" + "sandbox-" + UUID, "access-sandbox-mode"),
    "razorpay": ("rzp_live_" + fill(14), "rzp_live_"),
    "flutterwave": ("FLWSECK-" + fill(32) + "-X", "FLWSECK-"),
    "shippo": ("shippo_live_" + fill(40, HEX), "shippo_live_mode"),
    "easypost": ("EZAK" + fill(54), "EZAK"),
    "duffel": ("duffel_live_" + fill(43), "duffel_live_mode"),
    "gocardless": ("live_" + fill(40), "live_reload_on_save"),
    "databricks": ("dapi" + fill(32, HEX), "dapi"),
    "clickhouse": ("4b1d" + fill(38), "4b1d"),
    "grafana": ("glsa_" + fill(32) + "_" + fill(8, HEX), "glsa_"),
    "newrelic": ("NRAK-" + fill(27, UPPER), "NRAK-"),
    "datadog": ("DD_API_" + "KEY=" + fill(32, HEX), "datadog trace " + fill(32, HEX)),
    "dynatrace": ("dt0c01." + fill(24, UPPER) + "." + fill(64, UPPER), "dt0c01."),
    "sentry": ("sntrys_" + fill(80), "sntrys_"),
    "doppler": ("dp.pt." + fill(43), "dp.pt.x"),
    "vault": ("hvs." + fill(90), "hvs.token"),
    "onepassword": (
        "A3-" + fill(6, UPPER) + "-" + fill(11, UPPER) + ("-" + fill(5, UPPER)) * 3,
        "op://vault/item/password",
    ),
    "age-secret-key": ("AGE-SECRET" + "-KEY-1" + fill(58, UPPER), "AGE-SECRET-KEY-1..."),
    "linear": ("lin_api_" + fill(40), "lin_api_"),
    "notion": ("ntn_" + fill(46), "secret_santa_name"),
    "airtable": ("pat" + fill(14) + "." + fill(64, HEX), "pattern.match"),
    "asana": ("1/" + digits(16) + ":" + fill(32, HEX), "1/2 done"),
    "figma": ("figd_" + fill(40), "figd_"),
    "postman": ("PMAK-" + fill(24, HEX) + "-" + fill(34, HEX), "PMAK-"),
    "readme": ("rdme_" + fill(70, LOWER), "rdme_"),
    "typeform": ("tfp_" + fill(59), "tfp_"),
    "contentful": ("CFPAT-" + fill(43), "CFPAT-"),
    "frameio": ("fio-u-" + fill(64), "fio-u-"),
    "dropbox": ("sl." + fill(135), "sl.exe"),
    "adafruit": ("aio_" + fill(28), "aio_pika"),
    "adobe": ("p8e-" + fill(32), "p8e-"),
    "mapbox": ("sk.ey" + "J" + fill(60) + "." + fill(22), "pk.eyJ tokens are public"),
    "maxmind": (fill(6) + "_" + fill(29) + "_mmk", "a_mmk"),
    "facebook": ("EAAC" + fill(120), "EAAC"),
    "twitter": ("A" * 22 + fill(80), "A" * 22),
    "yandex": ("AQVN" + fill(36), "AQVN"),
    "settlemint": ("sm_pat_" + fill(16), "sm_pat_"),
    "intra42": ("s-s4t2ud-" + fill(64, HEX), "s-s4t2ud-"),
    "dnkey": ("dnkey-" + fill(26) + "-" + fill(52), "dnkey-"),
    "authress": ("sc_" + fill(10) + "." + fill(4) + ".acc_" + fill(12) + "." + fill(40), "sc_.acc_"),
    "jwt": ("eyJ" + fill(33) + ".ey" + "J" + fill(60) + "." + fill(43), "eyJ... header, payload, signature"),
    "jwe": ("eyJ" + fill(33) + ".." + fill(16) + "." + fill(60) + "." + fill(22), "eyJ" + fill(20)),
    "jwt-base64": ("ZXlK" + fill(90), "ZXlK"),
    "rsa-private-key": (BEGIN + "RSA " + KEY + END_OF_HEAD, BEGIN + "RSA PUBLIC KEY" + END_OF_HEAD),
    "ec-private-key": (BEGIN + "EC " + KEY + END_OF_HEAD, BEGIN + "EC PARAMETERS" + END_OF_HEAD),
    "dsa-private-key": (BEGIN + "DSA " + KEY + END_OF_HEAD, BEGIN + "DSA PUBLIC KEY" + END_OF_HEAD),
    "openssh-private-key": (BEGIN + "OPENSSH " + KEY + END_OF_HEAD, "ssh-ed25519 AAAA" + fill(64)),
    "pgp-private-key": (BEGIN + "PGP " + KEY + " BLOCK" + END_OF_HEAD, BEGIN + "PGP MESSAGE" + END_OF_HEAD),
    "putty-private-key": ("PuTTY-User" + "-Key-File-3: ssh-ed25519", "a PuTTY-User-Key-File"),
    "private-key": (BEGIN + KEY + END_OF_HEAD, BEGIN + "CERTIFICATE" + END_OF_HEAD),
    "private-key-base64": (
        "LS0tLS1CRUdJTi" + "BSU0EgUFJJVkFURS" + fill(60),
        b64encode((BEGIN + "CERTIFICATE").encode()).decode(),
    ),
    "gcp-service-account": ('"private_key' + '_id": "' + fill(40, HEX) + '"', '"private_key_id": "<id>"'),
    "aws-secret-key": (
        "aws_secret_access" + "_key = " + fill(40),
        "aws_secret_access" + "_key = wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCY" + "EXAMPLEKEY",
    ),
    "aws-session-token": ("aws_session_" + "token=" + fill(200), "aws_session_token=$AWS_SESSION_TOKEN"),
    "azure-storage": ("Account" + "Key=" + fill(86) + "==", "AccountKey=<key>"),
    "azure-shared-key": ("SharedAccess" + "Key=" + fill(43) + "=", "SharedAccessKey=<key>"),
    "azure-sas": ("?sv=2022&" + "sig=" + fill(43) + "%3D", "?sig=<signature>"),
    "aws-presigned": ("X-Amz-Sig" + "nature=" + fill(64, HEX), "X-Amz-Signature=<signature>"),
    "postgres-url": ("postgres://app:" + PASSWORD + "@db/app", "postgres://localhost:5432/app_test"),
    "mysql-url": ("mysql+pymysql://app:" + PASSWORD + "@db/app", "mysql://root@localhost:3306/app"),
    "mongodb-url": ("mongodb+srv://app:" + PASSWORD + "@db/app", "mongodb://localhost:27017/app"),
    "redis-url": ("redis://:" + PASSWORD + "@db:6379/0", "redis://localhost:6379/0"),
    "amqp-url": ("amqp://app:" + PASSWORD + "@mq/v", "amqp://guest:guest@localhost:5672/"),
    "mssql-url": ("mssql+pyodbc://app:" + PASSWORD + "@db/app", "mssql://localhost/app"),
    "basic-auth-url": ("https://deploy:" + PASSWORD + "@git.example/x.git", "https://host:8080/path@v2"),
    "jdbc-url": ("jdbc:oracle:thin:app/" + PASSWORD + "@db:1521", "jdbc:oracle:thin:@db:1521"),
    "sidekiq": ("BUNDLE_GEMS__CONTRIBSYS__COM" + "=" + fill(8, HEX) + ":" + fill(8, HEX), "gems.contribsys.com"),
    "authorization-header": ("Authorization: " + "Basic " + fill(24), 'curl -H "Authorization: Bearer $GITHUB_TOKEN"'),
    "bearer-token": ("send bearer " + fill(40), "a bearer token is sent in the header"),
    "curl-user": ("curl -u admin:" + PASSWORD + " https://x", 'curl -u "$USER:$PASS" https://x'),
    "cli-password": ("sshpass -p " + PASSWORD + " ssh x", "mysql -u root -p"),
    "netrc": ("machine x login y " + "password " + PASSWORD, "machine x login y password <password>"),
    "docker-auth": ('"auth": "' + fill(24) + '"', '"auth": "none"'),
    "kubernetes-secret": (
        "kind: Secret\ndata:\n  key: " + fill(16) + "==",
        "kind: Secret\ndata:\n  key: {{ .Values.key }}",
    ),
    "session-cookie": ("Cookie: session" + "id=" + fill(32), "Cookie: sessionid=<id>"),
    "seed-phrase": ("seed phrase: " + "apple " * 11 + "pear", "seed phrase: twelve words"),
    "okta": ("okta_" + "token: 00" + fill(40), "okta token: 00"),
    "snyk": ("SNYK_" + "TOKEN=" + UUID, "SNYK_TOKEN=$SNYK_TOKEN"),
    "discord-secret": ("discord_client_" + "secret: " + fill(64, HEX), "discord secret: see the vault"),
    "password-assign": ("the admin password: " + PASSWORD, "In tests the password is empty: password=''"),
    "generic-api-key": ("api_" + 'key = "' + fill(32) + '"', "api_key: <your-api-key>"),
    "generic-secret": ("client_" + "secret: " + fill(32), "Secret: none are needed for the read API"),
    "generic-token": ("Use to" + "ken: abcd1234" + "efgh", "The token: it is refreshed hourly"),
    "generic-key": ("?k" + "ey=" + fill(20), "sorted(rows, key=lambda row: row.name2)"),
    "spoken-secret": ("with the password " + fill(16) + " it works", "compare token " + fill(40, HEX)),
}

REFUSED = [
    "pass" + "word=hunter-two",
    "DB_PASS" + "WORD=correct-horse",
    "pass" + 'word == "' + PASSWORD + '"',
    '"pass' + 'word": "Tr0ub4dor&3"',
    "| pass" + "word | " + PASSWORD + " |",
    "<pass" + "word>" + fill(9) + "</password>",
    "pass" + "word for staging: " + PASSWORD,
    "pass" + "word `" + PASSWORD + "`",
    "to" + 'ken: str = "' + fill(20) + '"',
    "set('API_" + "KEY', '" + fill(20) + "')",
    "--to" + "ken " + fill(20),
    "app_sec" + 'ret = "' + digits(16) + '"',
    "to" + "ken: the_to" + "ken=" + fill(20),
    "cu" + 'rl -u "' + PASSWORD + ':" https://x',
    "cu" + "rl --user kevin:'" + PASSWORD + "' x",
    "HEROKU_API_" + "KEY=" + UUID,
    "twilio auth to" + "ken: " + fill(32, HEX),
    "cloudflare api " + "key: " + fill(37, HEX),
]

ALLOWED = [
    "Bisect showed " + fill(40, HEX) + " broke the build.",
    "request id " + UUID,
    "md5 of the fixture: " + fill(32, HEX),
    '"integrity": "sha512-' + fill(86) + '=="',
    "FROM python@sha256:" + fill(64, HEX),
    "docker://python:3.11@sha256:" + fill(64, HEX),
    "traceparent 00-" + fill(32, HEX) + "-" + fill(16, HEX) + "-01",
    "cache key: sha256:" + fill(64, HEX),
    "Idempotency-Key: " + UUID,
    "csrf_token = " + fill(32, HEX),
    "Set DB_PASSWORD and AWS_SECRET_ACCESS_KEY in the CI settings",
    "The token budget is 500 tokens; max_tokens=4096",
    "password: Optional[str] = None",
    'password = os.environ["DB_PASSWORD"]',
    "password=user_password",
    "password = generated_value",
    'password: "Password must contain 8 characters"',
    'Url("http", "password", "host2.example", 80)',
    "Password: 12-character minimum, bcrypt2b",
    "password: bcrypt12",
    "Password: 20240711",
    "password: пароль1",
    "PWD=/home/me/project1",
    "const token = await getToken();",
    "api_key=settings.API_KEY2",
    "token: ENC[AES256_GCM,data:" + fill(16) + "]",
    "secret: k8s-secret-v2",
    "token: 123456789012",
    'token = "two words 2"',
    "key: ${{ runner.os }}-pip",
    "key=session:user:42",
    "api_token = var.api_token",
    "postgres://user:password@localhost:5432/app",
    "postgres://acme:acme@localhost:5432/app",
    "curl -u username:token https://x",
    'curl --user "name@example.org" --upload-file out.txt',
    "test_should_return_401_when_the_token_has_expired",
    "/usr/lib/python3.11/site-packages/frontmatter/default_handlers.py",
    "v2.14.0-rc.1+build.20260711.9f3c2ab",
    "arn:aws:iam::123456789012:role/deploy",
    "Bind to 2001:0db8:85a3:0000:0000:8a2e:0370:7334.",
    "ﷺ and 東京 and naïve",
    "",
]

TOKEN = "ghp_" + fill(36)

# Sentences with a key of AWS's manuals, and whether they call it a live one.
DOCUMENTED = [json.loads(row) for row in (DATA / "documented.jsonl").read_text("utf-8").splitlines()]


def with_documented_keys(text: str) -> str:
    longer = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCY" + "EXAMPLEKEY"
    return text.replace("{K}", "AKIA" + "IOSFODNN7" + "EXAMPLE").replace("{S}", longer)


def kinds(text: str) -> list[str]:
    return [secret.kind for secret in find_secrets(text)]


def test_every_shape_has_an_example() -> None:
    assert set(EXAMPLES) == {shape.kind for shape in TOKENS + CONTEXTS}


def test_shapes_are_rules_with_lower_case_hints() -> None:
    assert all(word == word.lower() != "" for shape in TOKENS + CONTEXTS for word in shape.words)
    assert all(shape.words for shape in TOKENS + CONTEXTS)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_shape_is_refused_with_its_kind(kind: str) -> None:
    """R004-20."""
    with pytest.raises(RefusedError) as refusal:
        refuse_secrets({"text": "See this:\n\n" + EXAMPLES[kind][0] + "\n\nand go on."})
    assert refusal.value.code == f"secret:{kind}"
    assert refusal.value.exit_code == 3


@pytest.mark.parametrize("kind", EXAMPLES)
def test_what_only_resembles_the_shape_is_allowed(kind: str) -> None:
    assert kinds("See this:\n\n" + EXAMPLES[kind][1] + "\n\nand go on.") == []


@pytest.mark.parametrize("text", REFUSED)
def test_assignments_are_refused_in_every_spelling(text: str) -> None:
    """R004-20."""
    assert find_secrets(text)


@pytest.mark.parametrize("text", ALLOWED)
def test_talk_about_secrets_is_allowed(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize("row", DOCUMENTED, ids=lambda row: row["text"][:40])
def test_a_documentation_key_passes_unless_its_sentence_calls_it_a_live_one(row: dict[str, Any]) -> None:
    """docs/security.md: a reader cannot tell it from a live one where the text says that it is one."""
    assert bool(find_secrets(with_documented_keys(row["text"]))) is row["live"]


def test_a_sentence_that_was_cut_short_is_excused_by_its_whole() -> None:
    """A description is made of the rule's first words; what says that it is an example may be its last."""
    said = with_documented_keys("The key of our account is {K} in every chapter")
    whole = f"description: {said}…\n---\n\n{said} of the book, as a placeholder."
    assert not find_secrets(whole)
    assert find_secrets(whole.replace(", as a placeholder", ""))


def test_who_meant_an_example_is_told_to_say_so() -> None:
    (secret,) = find_secrets(with_documented_keys("The production key is {K}."))
    assert secret.label.endswith("if it is an example, say so")
    assert not find_secrets(with_documented_keys("For example, the production key is {K}."))
    (token,) = find_secrets("ghp_" + fill(29) + "EXAMPLE")  # no manual's: nothing that is said of it makes it pass
    assert "manual" not in token.label


@pytest.mark.parametrize(
    "text",
    [
        "ghp_\u200b" + fill(36),
        "g\u2060hp_" + fill(18) + "\u00ad" + fill(18),
        "ghp_" + fill(9) + "\u0301" + fill(27),
        "".join(chr(ord(character) + 0xFEE0) for character in TOKEN),
        "ghp_" + fill(18) + "\\\n" + fill(18),
        "ghp_" + fill(18) + "\\\r\n   " + fill(18),
        "ghp_" + fill(15) + "\n" + fill(21),
        "a line\n> ghp_" + fill(15) + "\n> " + fill(21),
        'X = "ghp_' + fill(15) + '" + "' + fill(21) + '"',
        "ghp\\_" + fill(36),
        "ghp_&#8203;" + fill(36),
        "ghp&#95;" + fill(36),
        "ghp&lowbar;" + fill(36),
        "&#x67;hp_" + fill(36),
        "gh\u0440_" + fill(36),
        "ghp_" + fill(17) + "\u0430" + fill(18),
        "`ghp_`" + fill(36),
        "ghp_**" + fill(18) + "**" + fill(18),
        "ghp_`" + fill(18) + "``" + fill(18) + "`",
        "ghp_~~" + fill(18) + "~~" + fill(18),
        "ghp_<b>" + fill(18) + "</b>" + fill(18),
        '<code class="x">ghp_</code>' + fill(36),
        TOKEN.encode().hex(),
        TOKEN.encode().hex().upper(),
        b64encode(b64encode(TOKEN.encode())).decode(),
        b64encode(TOKEN.encode().hex().encode()).decode(),
        "".join(f"\\{ord(letter):03o}" for letter in TOKEN),
        "It is " + " ".join(TOKEN),
        "It is " + "-".join(TOKEN),
        "It is " + ", ".join(TOKEN),
        "ghp%5F" + fill(36),
        '{"text": "a line\\n' + TOKEN + '"}',
        b64encode(f"the value {TOKEN}".encode()).decode(),
        b64encode(f"clé: {TOKEN}".encode()).decode(),
        "```sh\ncurl -H 'Authorization: to" + "ken " + TOKEN + "'\n```",
        "<!-- " + TOKEN + " -->",
    ],
)
def test_disguise_does_not_hide_a_token(text: str) -> None:
    """R004-20."""
    assert kinds(text) == ["github-pat"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sk\u2013ant\u2013api03-" + fill(95), "anthropic"),
        ("api_" + "key = “" + fill(32) + "”", "generic-api-key"),
        ("api_" + "key = ‘" + fill(32) + "’", "generic-api-key"),
    ],
)
def test_typographic_signs_do_not_hide_a_secret(text: str, kind: str) -> None:
    assert kinds(text) == [kind]


@pytest.mark.parametrize(
    "words",
    [
        *("Das Pass" + "wort ist", "Das Kenn" + "wort lautet", "Le mot de " + "passe est", "mot de " + "passe :"),
        *("La contra" + "seña es", "A sen" + "ha é", "sen" + "ha:", "Het wacht" + "woord is"),
    ],
)
def test_a_password_is_found_in_the_languages_of_corrections(words: str) -> None:
    """docs/security.md: values that are assigned to a name such as `password`."""
    assert kinds(f"{words} {PASSWORD}") == ["password-assign"]
    assert kinds(f"{words} dans le coffre.") == []


PHRASES = [
    *("the pass" + "word is {}", "pass" + "word: {}", "Das Pass" + "wort lautet {}", "le mot de " + "passe est {}"),
    *("la contra" + "seña es {}", "a sen" + "ha é {}", "la pass" + "word è {}", "пар" + "оль: {}", "Пар" + "оль — {}."),
    *("密" + "码是{}。", "密" + "碼：{}", "パスワ" + "ードは{}です", "비밀" + "번호: {}", "has" + "ło: {}"),
    *("docker login -u bob -" + "p {} registry.example", "podman login --pass" + "word={} -u bob registry.example"),
    *("docker login -" + "p {}", "mongosh -u bob -" + "p {} db", "ldapsearch -D cn=bob -" + "w {}"),
]


@pytest.mark.parametrize("phrase", PHRASES)
@pytest.mark.parametrize("letters", ["lower", "letters", "letters and digits"])
def test_a_random_password_is_found_behind_every_phrase(phrase: str, letters: str) -> None:
    """At most 1 in 10 of twelve small letters and 1 in 20 of mixed ones may look like a word."""
    numbers, small = random.Random(11), "abcdefghijklmnopqrstuvwxyz"
    among = {"lower": small, "letters": small + small.upper()}.get(letters, small + small.upper() + "0123456789")
    said = [phrase.format("".join(numbers.choices(among, k=12))) for _ in range(200)]
    assert sum(not find_secrets(text) for text in said) <= (20 if letters == "lower" else 10)


@pytest.mark.parametrize("text", (DATA / "passwords.txt").read_text("utf-8").splitlines())
def test_what_is_said_of_a_password_is_none(text: str) -> None:
    """A word behind "password:" tells what is to be done with one."""
    assert kinds(text) == []


def test_a_whole_token_does_not_swallow_the_next_line() -> None:
    assert kinds("ghp_" + "x" * 36 + "\n1 is a placeholder") == []
    assert kinds(TOKEN + "\nnext") == ["github-pat"]
    assert kinds("AKIA" + fill(16, UPPER) + "\n" + "AKIA" + fill(16, UPPER)) == ["aws-access-key"] * 2


def test_an_encoded_text_is_one_place() -> None:
    assert kinds(b64encode(f"{TOKEN} {TOKEN}".encode()).decode()) == ["github-pat"]


def test_broken_base64_is_no_finding() -> None:
    assert kinds("A" * 25) == []


def test_places_are_those_of_the_text_as_given() -> None:
    text = "é\u200b ok\r\n\r\n\u200b\u200bsee g\u200bhp_" + fill(36) + " and AKIA" + fill(16, UPPER)
    places = [(secret.kind, secret.line, secret.column) for secret in find_secrets(text)]
    assert places == [("github-pat", 3, 7), ("aws-access-key", 3, 53)]
    assert text.split("\r\n")[2][6:8] == "g\u200b"
    assert text.split("\r\n")[2][52:56] == "AKIA"


def test_an_assignment_is_placed_at_its_value() -> None:
    (secret,) = find_secrets("first\nthe pass" + "word: " + PASSWORD)
    assert (secret.line, secret.column) == (2, 15)


def test_one_place_gives_one_finding() -> None:
    assert kinds("api_" + 'key = "' + TOKEN + '"') == ["github-pat"]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_no_part_of_the_value_is_repeated(kind: str) -> None:
    """R004-20."""
    with pytest.raises(RefusedError) as refusal:
        refuse_secrets({"title": "fine", "evidence": EXAMPLES[kind][0]})
    error = refusal.value
    said = f"{error} {error!r} {error.message} {error.hint}"
    random_parts = [(alphabet * 2)[i : i + 6] for alphabet in (MIXED, LOWER, UPPER, HEX) for i in range(len(alphabet))]
    assert not [part for part in random_parts if part in said]
    assert error.__cause__ is None
    assert "\n" not in error.message


def test_the_message_says_where_it_is_and_where_it_belongs() -> None:
    """R004-20."""
    with pytest.raises(RefusedError) as refusal:
        refuse_secrets({"title": "fine", "context": "a\n  " + TOKEN})
    assert refusal.value.message == "context holds a secret at line 2, column 3 (GitHub personal token)"
    assert "password manager" in refusal.value.hint
    assert "environment variable" in refusal.value.hint


def test_fields_without_secrets_pass() -> None:
    fields = {"title": "Run tests first", "text": "Ask for the password in a prompt, never in a flag"}
    assert not any(map(find_secrets, fields.values()))
    refuse_secrets(fields)
    refuse_secrets({})


CODES = {
    "yaml": r"\x5f",
    "json": r"\u005f",
    "long": r"\U0000005F",
    "twice": r"\\u005f",
    "zero width": r"_\u200b",
    "wide": r"\uff3f",
    "continued": "_\\\n    ",
}


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_a_token_written_with_codes_is_found(code: str) -> None:
    """What a reader of YAML or JSON makes of it is what is served and committed."""
    assert kinds(f'context: "The key {TOKEN.replace("_", code)} opens it."') == ["github-pat"]


def test_codes_stand_for_what_they_say() -> None:
    spelled = "".join(f"\\x{ord(letter):02x}" for letter in TOKEN)
    assert kinds(f'- "{spelled}"') == ["github-pat"]
    assert kinds("https:\\/\\/hooks.slack" + ".com\\/services\\/" + fill(40)) == ["slack-webhook"]
    assert kinds(r'"C:\x64\users\u0041", "caf\u00e9 \ud83d\ude00 \U0010ffff"') == []


GLUED = [
    *("github-pat", "github-oauth", "github-app", "gitlab", "npm-token", "huggingface", "google-api", "stripe-live"),
    *("anthropic", "openai", "openrouter", "groq", "xai", "nvidia", "slack-bot", "slack-user", "pypi-token"),
    *("docker-hub", "shopify", "digitalocean", "aws-access-key", "aws-session-key"),
]


@pytest.mark.parametrize("kind", GLUED)
@pytest.mark.parametrize("text", ["Use sub{} here.", "tok{}", "X1x{}", "a folder sub{}/in.md"])
def test_a_whole_token_is_found_behind_letters(kind: str, text: str) -> None:
    assert kinds(text.format(EXAMPLES[kind][0])) == [kind]


def test_a_word_with_a_prefix_in_it_is_no_token() -> None:
    assert kinds("a bghp_" + fill(30) + " is too short for one") == []
    for word in ("xghp_" + "abcdefgh" * 4 + "abcd", "task-ant-" + "design-button" * 8, "shf_" + "settings" * 5):
        assert kinds(f"call {word} here") == [], word
    assert kinds("MAKIA" + fill(16, UPPER)) == []


def test_hashes_hold_no_token_by_chance() -> None:
    numbers = random.Random(7)
    for _ in range(300):
        data = numbers.randbytes(64)
        said = (b64encode(data).decode(), urlsafe_b64encode(data).decode(), b32encode(data).decode(), data.hex())
        assert kinds("\n".join(f"sha512-{one}" for one in said)) == []


SEEDS = [
    *("a", "0", "_", ".", "\\", "=", ":", "/", "@", "|", '"', "'", "\n", "a\n", "\\\n", "\u200b", "é", "ﷺ", "a\u0301"),
    *("token", "token:", "token=", "password|", "password for a b ", "key=", "api_key=", "AccountKey=", "&sig="),
    *("eyJ", "eyJaaaaaaaaa.", ".eyJ", "sk-", "sk-a-", "ghp_", "ghp_a\n", "xoxb-", "hf_", "SG.", "t1.a", "AKIA", "1|"),
    *("a://b:", "a://b:c", "://:", "curl ", "curl -u ", 'curl -u "a', "bearer ", "authorization: ", "mysql -"),
    *("kind:secret", "kind: secret\ndata:\n a: ", "seed: ", "sess", "sess=", "-----BEGIN ", "3f9a0c7e"),
    *(
        "a ",
        "a-",
        "- ",
        "b-" * 9_000 + "bb ",
        ("b-" * 15) + "bb ",
        "login -u a -p ",
        "ab" * 12 + " ",
        "login ",
        "<b>",
        "~~",
    ),
    *("M" + "z" * 23 + ".", "machine a login b password "),
    *(f"{words} AKIA" + "IOSFODNN7" + "EXAMPLE " for words in ("", "prod key", "never not real", "sign in with use")),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_repetition_is_bounded(seed: str) -> None:
    text = (seed * (65536 // len(seed) + 1))[:65536]

    def work() -> None:
        guard._plain.cache_clear()
        find_secrets(text)

    within(0.5, work)


def test_many_secrets_are_located_as_quickly_as_one() -> None:
    """A file of half a MiB: lines and fences are counted once, not anew for each secret."""
    text = f"{TOKEN}\n" * 12_000
    begin = time.process_time()
    assert find_secrets(text)[-1].line == 12_000
    assert time.process_time() - begin < 3


def test_an_ordinary_note_is_quick() -> None:
    note = ("Set DB_PASSWORD in CI, then curl with the key; the token budget of the API test is named there. " * 7)[
        :600
    ]
    find_secrets(note)
    begin = time.process_time()
    for _ in range(20):
        find_secrets(note)
    assert (time.process_time() - begin) / 20 < 0.005


def test_import_compiles_no_pattern() -> None:
    code = "import re, learnloop_md.guard as g; print(g._compiled.cache_info().currsize)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "0\n"


@given(st.text(alphabet="ghp_aA1\u200b\n\r\\=\"' :tokenpassword.é", max_size=80))
def test_any_text_is_read_and_every_place_is_in_it(text: str) -> None:
    lines = text.split("\n")
    for secret in find_secrets(text):
        assert 1 <= secret.column <= len(lines[secret.line - 1])


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_token_between_blanks_is_found_in_any_text(before: str, after: str) -> None:
    assert find_secrets(f"{before} \n {TOKEN} \n {after}")


@pytest.mark.parametrize("path", [guard.__file__, Path(guard.__file__).with_name("secret_shapes.py"), __file__])
def test_these_files_hold_no_secret(path: str | Path) -> None:
    assert kinds(Path(path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("behind", ["", " as the token", " a", "-", ", which is old", "."])
@pytest.mark.parametrize("sign", [" ", "-", ".", ", "])
def test_a_token_spelled_letter_by_letter_is_found_whatever_follows(sign: str, behind: str) -> None:
    """R004-20: also where the next word begins as one more letter would."""
    assert kinds(f"It is {sign.join(TOKEN)}{behind}") == ["github-pat"]


@pytest.mark.parametrize("words", ["é", "d\U000e0100", "对", "❤\ufe0f", "\u202e"])
def test_a_tag_with_other_letters_in_it_is_taken_out_like_any(words: str) -> None:
    """R004-20: also inside a token."""
    assert kinds(f'{TOKEN[:9]}<span title="{words}">{TOKEN[9:]}</span>') == ["github-pat"]
