#!/bin/bash
. "$(dirname "$(readlink -f "$0")")/../lib.sh"; dest "${1:-}"
newrepo repo; cd repo; M=.claude/memory; mkdir -p $M .github skills/pr-review/references
cat > .github/CODEOWNERS <<'X'
*                                   @harbour/everyone
/.claude/                           @harbour/leads
/.claude/memory/project-*           @harbour/platform
/skills/*/references/memory.md      @harbour/reviewers
/skills/pr-review                   @harbour/leads
X
i=0; for s in feedback-short-commits feedback-run-tests feedback-no-mocks project-berth-model project-crane-api project-night-batch reference-port-wiki reference-tide-feed user-ada-role; do i=$((i+1))
 lesson $M/$s.md $s ${s%%-*} "Lesson $s" CANDIDATE "2026-08-0$((i%8+1))@r-$i" "Rule of $s, long enough to be recognised after a move." "Reason of $s, a sentence of its own." "Where $s matters."; done
sed -i 's/^\*\*Why:\*\* Reason of project-crane-api.*/&\n\nSee [[project-berth-model]]./' $M/project-crane-api.md
{ printf '# Memory\n\n'; for f in $M/[a-z]*.md; do b=$(basename $f .md); printf -- '- [%s](%s.md) — %s\n' $b $b $b; done; } > $M/MEMORY.md
printf 'Memory: @.claude/memory/MEMORY.md\n\nLessons live in `.claude/memory/`.\n' > CLAUDE.md
printf '# Memory\n\n## Current Patterns\n\n## Candidate Patterns\n\n## Archived Patterns\n' > skills/pr-review/references/memory.md
when 2026-09-01; commit Start
git switch -q -c move; who cy; mkdir -p .agents; git mv $M .agents/memory
sed -i 's/^Rule of project-crane-api.*/Rule of project-crane-api, now also for the second crane./' .agents/memory/project-crane-api.md
printf '### 2026-09-03 | Ask for the migration plan\n- Context: move\n- Lesson: Ask for the plan.\n- Next pass: Ask.\n- State: CANDIDATE\n- Tags: review\n' > $D/entry; sed -i "/^## Candidate Patterns/r $D/entry" skills/pr-review/references/memory.md; rm $D/entry
when 2026-09-03; commit "chore: move memory to .agents"
git diff -M --summary main | sed 's/^/ /'; echo "$D/repo branch move"
