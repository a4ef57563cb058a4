#!/bin/bash
. "$(dirname "$(readlink -f "$0")")/../lib.sh"; dest "${1:-}"
rm -rf origin.git work; git init -q --bare -b main origin.git; git clone -q origin.git work 2>/dev/null; cd work; M=.claude/memory; mkdir -p $M
printf '.claude/memory/MEMORY.md merge=union\n' > .gitattributes
{ printf '# Memory\n\n'; for i in 01 02 03 04 05 06; do printf -- '- [Rule %s](rule-%s.md) — area %s\n' $i $i $i; done; } > $M/MEMORY.md
for i in 01 02 03 04 05 06; do lesson $M/rule-$i.md rule-$i feedback "Rule $i" - - "Do thing $i." "Reason $i." "Area $i."; done
when 2026-09-01; commit "Start"; git push -q origin main
for b in pr-1 pr-2 pr-3; do git switch -q -c $b main
  lesson $M/new-$b.md new-$b feedback "New in $b" - - "Do as $b says." "Because of $b." "Area $b."
  printf -- '- [New %s](new-%s.md) — area %s\n' $b $b $b >> $M/MEMORY.md; commit "docs(memory): $b"; git push -q origin $b; done
git switch -q main; git merge -q --no-edit pr-1; git push -q origin main
echo "here (work tree, driver read):"; git switch -q -c try main; if git merge -q --no-edit pr-2; then echo "  pr-2 merges clean"; fi; git switch -q main; git branch -qD try
echo "forge (bare, no attributes):"; for b in pr-2 pr-3; do if git -C ../origin.git merge-tree --write-tree main $b >"$D/clash" 2>&1; then echo "  $b clean"; else echo "  $b CONFLICT: $(grep -c CONFLICT "$D/clash") file"; fi; done; rm -f "$D/clash"
echo "$D/work"
