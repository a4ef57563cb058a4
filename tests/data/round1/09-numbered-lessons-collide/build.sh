#!/bin/bash
. "$(dirname "$(readlink -f "$0")")/../lib.sh"; dest "${1:-}"
newrepo repo; cd repo; S=skills/release-check; mkdir -p $S/references docs
{ printf -- '---\nname: release-check\ndescription: Check a release before it leaves\n---\n\n# Release check\n\nLoad references/memory.md first.\n\n## Rules\n\n'
  for i in $(seq 1 10); do printf '%s. **Rule %s.** Check item %s.\n' $i $i $i; done; printf '\n## After the release\n\nWrite the note.\n'; } > $S/SKILL.md
entry() { printf '### %s | %s\n- Context: release %s\n- Lesson: %s\n- Next pass: %s\n- State: %s\n- Tags: release\n\n' "$1" "$2" "$3" "$4" "$5" "$6"; }
{ printf '# Memory\n\n## Current Patterns\n\n'; entry 2026-08-03 "Tag before upload" 41 "The tag must exist before the upload starts." "Look for the tag first." CURRENT
  printf '## Candidate Patterns\n\n'; entry 2026-09-01 "Changelog date" 44 "The changelog carries the day of the tag." "Compare both." CANDIDATE
  printf '## Archived Patterns\n\n'; } > $S/references/memory.md
printf 'See rule 10 of the skill.\n' > docs/notes.md; when 2026-09-10; commit Start
git switch -q -c left; who ada
sed -i '/^10\. /a 11. **Checksums.** Compare checksums of wheel and archive. <!-- learnloop: checksum-both 2026-09-21 -->' $S/SKILL.md
printf 'Rule 11 (checksums) is new.\n' >> docs/notes.md
lesson memory/learn_20260921_003.md learn_20260921_003 project "Checksums of both files" - - "Compare both." "One differed." "Release."
when 2026-09-21; commit "docs(skill): rule 11, checksums"
git switch -q main; git switch -q -c right; who bo
sed -i '/^10\. /a 11. **Licence file.** The licence is in the wheel. <!-- learnloop: licence-in-wheel 2026-09-21 -->' $S/SKILL.md
printf 'Since rule 11 the licence is checked.\n' > docs/licence.md
lesson memory/learn_20260921_003.md learn_20260921_003 project "Licence in the wheel" - - "Look into the wheel." "It was missing." "Release."
when 2026-09-21 11:00:00; commit "docs(skill): rule 11, licence"
git switch -q main; git merge -q --ff-only left; when 2026-09-22; git merge -q --no-edit right >/dev/null 2>&1 || git diff --name-only --diff-filter=U
echo "$D/repo (merge of right into main stopped)"
