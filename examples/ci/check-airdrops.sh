#!/usr/bin/env bash
# Builds the tree of every recipient CSV that changed since BASE, prints what changed, and fails where the committed root differs.
#
#   check-airdrops.sh [BASE] [FOLDER]    default: origin/main airdrops
#
# Next to NAME.csv stands NAME.root.txt with the root in hex, and, where amounts are whole tokens, NAME.decimals.txt.
# SVC is the command to run (default: svc).
set -euo pipefail

base=${1:-origin/main}
folder=${2:-airdrops}
read -ra svc <<<"${SVC:-svc}"
failed=0
checked=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() {
  printf '%s\n' "$*"
  if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then printf '%s\n' "$*" >>"$GITHUB_STEP_SUMMARY"; fi
}

# Beside the lists themselves, a root or decimals that changed alone is checked too.
merge_base=$(git merge-base "$base" HEAD)
mapfile -d '' -t changed < <(git diff --name-only -z --diff-filter=ACMRD "$merge_base" HEAD -- "$folder")
declare -A lists=()
for file in "${changed[@]}"; do
  case $file in
    *.csv) lists[$file]=1 ;;
    *.root.txt) lists[${file%.root.txt}.csv]=1 ;;
    *.decimals.txt) lists[${file%.decimals.txt}.csv]=1 ;;
  esac
done

for csv in "${!lists[@]}"; do
  [[ -f $csv ]] || { say "$csv was removed"; continue; }
  checked=$((checked + 1))
  say "## $csv"
  flags=()
  if [[ -f ${csv%.csv}.decimals.txt ]]; then flags=(--decimals "$(tr -d '[:space:]' <"${csv%.csv}.decimals.txt")"); fi

  if git cat-file -e "$merge_base:$csv" 2>/dev/null; then
    git show "$merge_base:$csv" >"$work/before.csv"
    # A list at the base that cannot be read is no reason to refuse the one that repairs it.
    difference=$("${svc[@]}" merkle diff "$work/before.csv" "$csv" "${flags[@]}" --no-input 2>&1) || true
    say '```'
    say "$difference"
    say '```'
  else
    say 'A new list.'
  fi

  root_file=${csv%.csv}.root.txt
  if [[ ! -f $root_file ]]; then
    say "FAILED: $root_file is missing; write it with: svc merkle build $csv --mint MINT ${flags[*]} --json | jq -r .root > $root_file"
    failed=1
  elif answer=$("${svc[@]}" merkle verify "$csv" --root "$(tr -d '[:space:]' <"$root_file")" "${flags[@]}" --no-input 2>&1); then
    say "$answer"
  else
    say "FAILED: $root_file does not match $csv"
    say "$answer"
    failed=1
  fi
done

say "$checked changed lists checked"
exit "$failed"
