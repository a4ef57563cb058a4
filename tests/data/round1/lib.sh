# Shared by the build.sh scripts beside it. All content is invented.
# The head keys for state and sightings are written in ONE place (lesson, sightings):
# change KEY_STATE / KEY_SEEN here if the product spells them otherwise.
set -eu
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null LC_ALL=C.UTF-8 TZ=UTC
KEY_STATE=${KEY_STATE:-state}
KEY_SEEN=${KEY_SEEN:-seen}
N=0
who() { # who ada|bo|cy : sets author and committer
  case $1 in
    ada) n="Ada Test"; e=ada@example.invalid;; bo) n="Bo Test"; e=bo@example.invalid;;
    *) n="Cy Test"; e=cy@example.invalid;; esac
  export GIT_AUTHOR_NAME="$n" GIT_AUTHOR_EMAIL=$e GIT_COMMITTER_NAME="$n" GIT_COMMITTER_EMAIL=$e
}
when() { export GIT_AUTHOR_DATE="$1T${2:-09:00:00}+00:00" GIT_COMMITTER_DATE="$1T${2:-09:00:00}+00:00"; }
who ada; when 2026-09-01
newrepo() { rm -rf "$1"; mkdir -p "$1"; git -C "$1" init -q -b main; }
commit() { git add -A; git commit -q -m "$1"; }
# lesson PATH NAME TYPE DESCRIPTION STATE SEEN(comma list of date@run, or -) RULE WHY HOW
lesson() {
  mkdir -p "$(dirname "$1")"
  { printf -- '---\nname: %s\ndescription: %s\nmetadata:\n  type: %s\n' "$2" "$4" "$3"
    [ "$5" = - ] || printf '  %s: %s\n' "$KEY_STATE" "$5"
    if [ "$6" != - ]; then printf '  %s:\n' "$KEY_SEEN"
      echo "$6" | tr ',' '\n' | while read -r s; do printf '    - on: %s\n      run: %s\n' "${s%@*}" "${s#*@}"; done; fi
    printf -- '---\n\n%s\n\n**Why:** %s\n\n**How to apply:** %s\n' "$7" "$8" "$9"
  } > "$1"
}
dest() { D=${1:-$(mktemp -d)}; mkdir -p "$D"; cd "$D"; D=$(pwd); }
