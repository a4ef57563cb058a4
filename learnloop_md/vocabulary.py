"""What words of software English have to do with each other: data for matching and recall, no rule.

Compiled by hand from general knowledge of the trade; no text of a test set went into it. Words stand in their plain
form; `words` brings them to their stems.
"""

# One meaning each, so that a rule may be worded with either; the first word stands for all (matching and recall).
SYNONYMS = (
    "use/used/using/employ/utilize run/execute/invoke/launch delete/remove/erase/drop "
    "edit/modify/change/alter/adjust/tweak add/append/insert/introduce check/verify/validate "
    "fix/repair/correct/resolve select/choose/pick/chosen store/save/persist answer/reply/response/respond ask/request "
    "explain/describe begin/start/commence finish/complete stop/halt/terminate fetch/load/retrieve show/display "
    "create/generate write/written/wrote keep/kept build/built send/sent give/given take/taken find/found hold/held "
    "break/broke/broken throw/raise/thrown wrap/surround/enclose convert/transform restrict/limit/cap "
    "approval/permission/consent/ok/okay allow/permit forbid/prohibit/ban reduce/decrease/lower obtain/get/got "
    "long/lengthy short/brief/concise large/big/huge small/little/tiny fast/quick/rapid empty/blank "
    "specific/concrete/particular whole/entire/full/absolute previous/former new/fresh "
    "serial/sequential identical/equal unstable/flaky "
    "repo/repository directory/folder/dir config/configuration/cfg database/db docs/documentation argument/arg "
    "environment/env message/msg parameter/param function/func variable/var attribute/attr property/prop "
    "reference/ref dependency/dep library/lib package/pkg command/cmd source/src temporary/temp/tmp utility/util "
    "identifier/id character/char integer/int number/num application/app administrator/admin development/dev "
    "production/prod authentication/auth information/info javascript/js typescript/ts kubernetes/k8s "
    "postgres/postgresql timezone/tz accessibility/a11y internationalisation/internationalization/i18n "
    "megabyte/mb gigabyte/gb millisecond/ms second/sec developer/engineer person/human defect/bug image/picture "
    "heading/headline comment/remark colour/color behaviour/behavior licence/license"
)

# Pairs that say the contrary of one another.
ANTONYMS = (
    "enable/disable add/delete include/exclude allow/deny allow/forbid accept/reject "
    "first/last min/max more/less most/least minimum/maximum increase/reduce start/stop open/close "
    "show/hide lock/unlock public/private local/remote local/global absolute/relative internal/external "
    "inside/outside above/below upper/lower true/false uppercase/lowercase left/right top/bottom "
    "ascending/descending asc/desc explicit/implicit static/dynamic new/old mutable/immutable "
    "mandatory/optional plural/singular foreground/background short/long early/late "
    "fast/slow strict/lenient serial/parallel manual/automatic "
    "sync/async synchronous/asynchronous push/pull read/write encode/decode single/multiple big/small "
    "high/low success/failure keep/delete store/delete create/delete eager/lazy hard/soft "
    "allowlist/denylist client/server input/output safe/unsafe secure/insecure on/off up/down over/under "
    "in/out together/separate together/apart shared/separate visible/hidden earliest/latest "
    "oldest/newest shallow/deep narrow/wide verbose/terse verbose/quiet detailed/short trusted/untrusted "
    "online/offline sorted/unsorted signed/unsigned raw/escaped encourage/discourage "
    "horizontal/vertical odd/even prefix/suffix inclusive/exclusive stateful/stateless even/uneven "
    "import/export mount/unmount install/uninstall register/unregister subscribe/unsubscribe pin/unpin "
    "encrypt/decrypt compress/decompress serialize/deserialize upgrade/downgrade commit/revert merge/split "
    "combine/split grant/revoke attach/detach expand/collapse increment/decrement"
)

# Grammar of other languages that is no English word: a text that has more of it than of English is not read.
FOREIGN = (
    "der das und nicht kein keine nie nur für mit auf ist sind zu zum zur vom nach vor ohne immer wenn ein eine einen "
    "dem le la les du ne pas dans avec une est sont jamais toujours sans avant après aux el los las del para con "
    "una nunca siempre antes después il gli della di mai sempre prima dopo senza uma não com sem depois het een niet "
    "geen voor met van nooit altijd naar och inte för på utan alltid aldrig ikke og til uden nie się jest przed na"
)

# Words that people use for nearly the same thing; a word may stand in several groups (recall alone, at a lower weight).
KIN = """
add/insert/append/introduce/include/attach
create/generate/make/produce/new/scaffold
write/author/compose/draft
delete/remove/drop/erase/purge/wipe/destroy/clean/cleanup/clear/prune
change/edit/modify/update/alter/adjust/tweak/amend/touch/revise
rename/move/relocate
fix/repair/correct/resolve/mend/patch
bug/defect/issue/error/fault/problem
fail/break/crash/broken/failure/red/die/abort
hang/stuck/freeze/deadlock/block/stall/timeout
slow/speed/fast/performance/perf/faster/optimise/optimize/latency
check/verify/validate/ensure/confirm/inspect/assert/prove
test/suite/spec/unittest/testing
mock/stub/fake/fixture/double
flaky/intermittent/unstable/random/sometimes/sporadic/occasionally
run/execute/invoke/launch/start/call/boot
stop/kill/halt/terminate/shutdown/quit
install/setup/bootstrap/provision
dependency/package/library/module/lib/deps/requirement
upgrade/bump/update/newer
version/release/tag
deploy/deployment/ship/rollout/publish/release
build/compile/bundle
pipeline/ci/workflow/job/action/runner
nightly/scheduled/cron/schedule
config/configuration/setting/option/preference/parameter
env/environment/dotenv
secret/credential/password/token/key/apikey
auth/authentication/login/signin/session/authorization/permission/access
user/customer/account/client
request/call/query/fetch/http
response/reply/answer/result
endpoint/route/url/api/path
server/backend/service/daemon
client/frontend/browser/ui/web
page/view/screen/component/render/layout
list/table/grid
form/input/field/textbox
button/link/control/widget
style/css/theme/colour/color/design
text/string/label/message/copy/wording
translate/translation/locale/language/i18n/localise/localize
date/time/timestamp/timezone/clock/day/hour/calendar/utc
number/amount/price/money/currency/decimal/cents
database/db/sql/postgres/table/schema/query
migration/migrate/schema/column/alter
index/lookup/slow
transaction/lock/deadlock/isolation
row/record/entry/tuple
cache/caching/memoize/redis
queue/worker/job/task/background/consumer
retry/backoff/repeat/again/resend
duplicate/twice/double/repeated/idempotent
limit/quota/throttle/rate/maximum/cap
page/pagination/cursor/offset/batch
upload/download/file/attachment
image/container/docker/dockerfile
log/logging/logger/trace/print/output/debug
exception/error/except/catch/handler/raise/throw/try
type/typing/annotation/generic/interface
function/method/helper/routine/procedure/utility
class/object/model/entity
variable/constant/name/identifier
loop/iterate/each/every
script/bash/shell/command/cli/terminal
file/document/path
find/search/grep/locate/look/lookup/discover
replace/substitute/swap
read/load/parse/import/open
save/store/persist/write/keep
serialize/serialise/dump/encode/json/marshal
deserialize/parse/decode/load
format/prettier/formatter/lint/linter/style/reformat
docs/documentation/readme/manual/guide/doc
comment/note/remark/todo
commit/save/record/checkin
push/upload/publish
merge/rebase/combine/integrate
branch/fork
pull/fetch/update/sync
pr/pull/review/mr
issue/ticket/bug/jira/task
diff/change/patch
revert/undo/rollback/reset
explain/describe/summarise/summarize/summary/report/answer/tell
ask/question/approval/permission/confirm/request/consent
short/brief/concise/terse/minimal/small
large/big/huge/long/heavy
old/legacy/stale/outdated/previous/deprecated
mac/macos/osx/apple/darwin/bsd
windows/win
linux/ubuntu/debian
laptop/local/locally/machine/desktop
production/prod/live
staging/stage/test/preview
cloud/aws/gcp/azure
infrastructure/infra/terraform/provision/plan/apply
cluster/kubernetes/k8s/pod/helm
memory/ram/leak/oom
disk/storage/volume/space
network/http/connection/socket/port
port/listen/bind/address
archive/zip/tar/compress/backup/dump
spreadsheet/xlsx/excel/csv
encrypt/encryption/hash/tls/ssl/certificate
vulnerability/security/cve/attack/exploit
accessible/accessibility/a11y/screenreader/aria/keyboard
monitor/alert/metric/dashboard
example/sample/template/demo
generated/codegen/generator/regenerate
contributor/fork/external/outside
experiment/prototype/spike
email/mail/smtp/newsletter
notification/alert/push/toast
chart/graph/plot/diagram
search/filter/sort/order
menu/navigation/sidebar/header
dialog/modal/popup/overlay
responsive/mobile/phone/tablet/viewport
mobile/android/ios/swift/kotlin
payment/invoice/billing/charge/refund/checkout
price/cost/fee/total
cart/order/purchase/shop
admin/administrator/backoffice
role/permission/policy/rbac
feature/flag/toggle/rollout
event/message/topic/publish/subscribe/kafka/broker
stream/pipe/buffer/chunk
thread/concurrent/concurrency/parallel/race/lock/mutex
async/await/promise/future/coroutine
memory/leak/allocate/heap/garbage
null/none/nil/undefined/missing/empty
string/text/unicode/encoding/utf
regex/pattern/match
random/seed/uuid
math/round/float/decimal/precision
inherit/subclass/extend/override
public/export/expose/api
private/internal/hidden
experiment/notebook/jupyter
model/train/dataset/inference/ml
dataframe/pandas/numpy/csv/data
load/benchmark/stress/profile
trace/tracing/span/telemetry/opentelemetry
health/probe/liveness/readiness
proxy/nginx/gateway/ingress/balancer
dns/domain/host/hostname
website/site/homepage/landing
release/changelog/announce/version
license/licence/copyright/legal
monorepo/workspace/package
refactor/restructure/simplify/extract/tidy
review/reviewer/approve/feedback
onboard/readme/newcomer/getting
estimate/plan/ticket/story
compile/compiler/typecheck/tsc/mypy
crash/segfault/panic/exception
safe/guard/protect/defensive
sanitize/escape/validate/injection
redirect/link/href/url
cookie/session/jwt/token
hash/digest/checksum/sha
print/show/display/output
"""

# Fields of work: words that belong to one draw a task to the lessons of that field (recall alone).
FIELDS = """
git: git commit push pull merge rebase branch tag stash checkout clone fork diff log blame bisect cherry-pick amend
 squash history main master head origin remote upstream hook pre-commit conflict lfs submodule gitignore changelog
 message trailer sign-off dco conventional
ci: ci cd pipeline workflow job runner action github gitlab jenkins nightly schedule trigger matrix artifact cache
 deploy build badge timeout-minutes yaml
test: test testing suite spec unit integration e2e pytest jest vitest mocha junit unittest cypress playwright mock stub
 fixture assertion coverage snapshot flaky tdd regression
setup: install setup dependency package library lockfile pip poetry uv npm yarn pnpm brew apt venv virtualenv
 node_modules requirements version upgrade bump
run: run start launch serve server dev local localhost port env dotenv watch
build: build compile bundle webpack vite rollup esbuild make makefile cmake gradle maven docker image artifact target
deploy: deploy deployment release rollout production staging publish ship rollback canary
docker: docker dockerfile container image compose layer registry volume mount entrypoint podman tag base alpine debian
 kubernetes pod
infra: terraform plan apply state module provider aws gcp azure cloud bucket s3 iam vpc region resource instance
 infrastructure subnet cluster
db: database db sql postgres postgresql mysql sqlite query table column row index migration schema transaction join orm
 select insert constraint vacuum psql lock
api: api rest endpoint route http request response status json payload header client server graphql openapi swagger
 webhook pagination rate limit retry timeout idempotency version post get put auth token
frontend: react vue angular component hook props state render effect css style button form page ui browser dom html
 a11y accessibility i18n translation jsx tsx router screen layout
python: python pip pytest pydantic django flask fastapi mypy ruff venv uv poetry asyncio dataclass import module
 pathlib logging
node: node npm yarn pnpm javascript typescript js ts jest eslint prettier nvm esm require import package.json express
shell: bash shell script zsh sed awk grep find xargs rm sudo chmod pipe variable loop command cli terminal env macos
search: search grep ripgrep rg find fd glob regex pattern match locate look codebase file occurrence reference
security: security secret token credential password key auth permission encrypt vulnerability tls certificate sanitize
 injection xss csrf
docs: docs documentation readme guide docstring comment example changelog
style: format formatting lint linter style naming convention prettier black ruff eslint todo comment emoji refactor
 cleanup diff
behaviour: ask explain answer report summary summarise approve approval confirm review user question tell wait
 permission
time: date time timezone utc timestamp clock day hour week calendar schedule expire expiry deadline
money: money price currency amount cents decimal invoice payment charge refund billing checkout
file: file path folder directory upload download csv xlsx export import parse backup archive
java: java jvm kotlin maven gradle spring junit jar annotation bean lombok stream optional
rust: rust cargo crate clippy borrow unwrap result trait lifetime tokio panic unsafe macro
go: go golang goroutine channel gofmt module interface defer context struct
c: c c++ cpp cmake pointer header memory malloc segfault valgrind sanitizer linker
dotnet: csharp dotnet nuget linq async controller entity razor solution
mobile: mobile android ios swift kotlin app store simulator emulator gradle xcode permission device
data: data dataset dataframe pandas numpy csv parquet notebook jupyter etl warehouse spark column
ml: model train training inference dataset gpu batch epoch prompt embedding llm token seed
kubernetes: kubernetes k8s kubectl helm pod namespace ingress cluster deployment replica probe manifest chart
observability: log logging metric metrics trace tracing alert dashboard monitor grafana prometheus sentry error level
messaging: queue worker event message topic kafka rabbitmq broker consumer producer publish subscribe retry job
web: http cookie session cors csrf redirect header cache cdn proxy nginx browser url
css: css sass tailwind class style margin spacing colour color theme dark responsive breakpoint layout
i18n: i18n translation translate locale language string plural currency date format
a11y: accessibility a11y aria label keyboard focus contrast screenreader alt role
email: email mail smtp template newsletter bounce subject recipient inbox
release: release version tag changelog publish semver bump announce notes artifact
monorepo: monorepo workspace package turbo nx lerna bazel shared
windows: windows powershell crlf path registry exe
perf: slow fast speed performance latency memory cache index optimise profile benchmark
error: error exception crash fail failure traceback stack retry handle catch raise warning panic
"""
