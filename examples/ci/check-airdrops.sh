#!/usr/bin/env bash
# Builds the tree of every recipient CSV that changed since BASE, prints what changed, and fails where the committed root is another.
#
#   check-airdrops.sh [BASE] [FOLDER]    default: origin/main airdrops; run it at the root of the repository
#
# Next to NAME.csv stands NAME.root.txt with the root in hex, and, where amounts are whole tokens, NAME.decimals.txt.
# SVC is the command to run, with its arguments (default: svc.js of the package or the clone that this script is in, else svc).
# SVC_SUMMARY is the file that the summary is added to (default: that of GitHub Actions), SVC_DIFFERENCES a folder that
# gets every difference of each list as CSV, SVC_JUNIT the file of a JUnit report with a test case for each list.
# Exit code: 0 every root is that of its list, 1 one is not or cannot be told, 2 nothing could be checked.
set -euo pipefail
export GIT_LITERAL_PATHSPECS=1

base=${1:-origin/main}
folder=${2:-airdrops}
folder=${folder%/}
summary_rows=200
summary=${SVC_SUMMARY:-${GITHUB_STEP_SUMMARY:-}}
differences_folder=${SVC_DIFFERENCES:-}
junit=${SVC_JUNIT:-}

stop() {
  printf 'check-airdrops: %s\n' "$*" >&2
  exit 2
}

here=$(dirname -- "${BASH_SOURCE[0]}")
svc=(svc)
for own in "$here/../../dist/svc.js" "$here/svc.js"; do
  if [[ -f $own ]]; then svc=(node "$own"); fi
done
if [[ -n ${SVC:-} ]]; then read -ra svc <<<"$SVC"; fi
"${svc[@]}" --version >/dev/null || stop "'${svc[*]}' does not run; name the command with SVC"
[[ $(git rev-parse --show-prefix) == '' ]] || stop "run it at the root of the repository"
[[ ! -L $folder ]] || stop "'$folder' is a link: what it leads to is not under review"
git rev-parse --verify --quiet "$base^{commit}" >/dev/null || stop "there is no commit '$base'; fetch it (fetch-depth: 0)"
merge_base=$(git merge-base "$base" HEAD) || stop "'$base' and HEAD have no commit in common; fetch the whole history (fetch-depth: 0)"

# A link or a file that a stranger commits where the check writes would choose what it writes to.
for place in "$differences_folder" "$junit" "$summary"; do
  if [[ -z $place ]]; then continue; fi
  [[ -z $(git ls-files --cached -- "$place" 2>/dev/null) ]] || stop "the repository has '$place', where the check writes; remove it there, or choose another place"
  above=$(dirname -- "$place")
  while [[ $above != . && $above != / ]]; do
    if [[ -L $above ]] && git ls-files --cached --error-unmatch -- "$above" >/dev/null 2>&1; then
      stop "the repository has the link '$above', below which the check writes; remove it there, or choose another place"
    fi
    above=$(dirname -- "$above")
  done
done

if [[ -n $summary ]]; then mkdir -p "$(dirname -- "$summary")"; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checked=0
failure=''
: >"$work/cases"
# The list at the base, in a file whose name no list can have, so that what svc says about it can be told apart.
nonce=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
before_file=$work/before$nonce.csv
# Without the temporary path: it means nothing to a reader.
without_path() { sed -E "s~[^ |]*/before$nonce(\\.|&#46;)csv~the list at the base~g"; }

# The runner of GitHub Actions obeys lines of the output. Names and lists are a stranger's, so it obeys none of them.
commands=''
if [[ ${GITHUB_ACTIONS:-} == true ]]; then
  commands=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  trap 'printf "::%s::\n" "$commands"; rm -rf "$work"' EXIT
  printf '::stop-commands::%s\n' "$commands"
fi

# Text on one line, without control and direction characters and bytes that are no UTF-8.
one_line() {
  printf '%s' "$*" | LC_ALL=C tr '\000-\037\177' ' ' | { iconv -c -f UTF-8 -t UTF-8 || true; } |
    LC_ALL=C sed -E 's/\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf|\xef\xbf[\xb9-\xbb\xbe\xbf]//g'
}
# Markdown in which a name is no mention, link, image or tag.
as_markdown() {
  sed -E 's/&/\&amp;/g; s/#/\&#35;/g; s/</\&lt;/g; s/>/\&gt;/g; s/@/\&#64;/g; s/:/\&#58;/g; s/\[/\&#91;/g; s/\]/\&#93;/g
    s/`/\&#96;/g; s/\*/\&#42;/g; s/_/\&#95;/g; s/~/\&#126;/g; s/\|/\&#124;/g; s/\\/\&#92;/g; s/!/\&#33;/g; s/(www)\./\1\&#46;/gI'
}
as_xml() { sed -E "s/&/\\&amp;/g; s/</\\&lt;/g; s/>/\\&gt;/g; s/\"/\\&quot;/g; s/'/\\&apos;/g"; }

in_summary() {
  if [[ -n $summary ]]; then cat >>"$summary"; else cat >/dev/null; fi
}
say() {
  local line
  line=$(one_line "$*")
  printf '%s\n' "$line"
  # The empty line keeps it out of a table that stands before it.
  printf '\n%s\n' "$line" | as_markdown | in_summary
}
heading() {
  local line
  line=$(one_line "$*")
  printf '## %s\n' "$line"
  printf '## %s\n' "$(as_markdown <<<"$line")" | in_summary
}
fail() {
  say "FAILED: $*"
  failed=1
  failure=$(one_line "$*")
}

# An error beside the line of a file: FILE, LINE and COLUMN or nothing, and what is wrong.
annotate() {
  if [[ -z $commands ]]; then return; fi
  local file=$1 message
  file=${file//%/%25} file=${file//$'\r'/%0D} file=${file//$'\n'/%0A} file=${file//:/%3A} file=${file//,/%2C}
  message=$(one_line "${*:4}")
  message=${message//%/%25}
  printf '::%s::\n::error file=%s%s%s::%s\n::stop-commands::%s\n' \
    "$commands" "$file" "${2:+,line=$2}" "${3:+,col=$3}" "$message" "$commands"
}
# GitHub shows ten errors of a step; the others are in the log.
annotate_faults() {
  local csv=$1 line rest shown=0
  while IFS= read -r line && ((shown < 9)); do
    rest=${line#"$csv:"}
    if [[ $rest == "$line" || ! $rest =~ ^([0-9]{1,9}):([0-9]{1,9}):\ (.*)$ ]]; then continue; fi
    annotate "$csv" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}"
    shown=$((shown + 1))
  done <"$2"
}

# The test case of a list; FAILURE is empty where it passed.
test_case() {
  local name
  name=$(one_line "$1" | as_xml)
  if [[ -z $2 ]]; then
    printf '    <testcase classname="airdrops" name="%s"/>\n' "$name"
  else
    printf '    <testcase classname="airdrops" name="%s">\n      <failure message="%s" type="check"/>\n    </testcase>\n' \
      "$name" "$(printf '%s' "$2" | as_xml)"
  fi >>"$work/cases"
}
write_junit() {
  local tests failures
  tests=$(grep -c '<testcase ' "$work/cases" || true)
  failures=$(grep -c '<failure ' "$work/cases" || true)
  mkdir -p "$(dirname -- "$junit")"
  # A link of that name in the checkout would choose another file.
  rm -f -- "$junit"
  {
    printf '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites tests="%d" failures="%d">\n' "$tests" "$failures"
    printf '  <testsuite name="airdrops" tests="%d" failures="%d" errors="0" skipped="0">\n' "$tests" "$failures"
    cat "$work/cases"
    printf '  </testsuite>\n</testsuites>\n'
  } >"$junit"
}
# A summary holds no more than 1 MiB: of a long text it gets the beginning and the end.
say_file() {
  local rows
  rows=$(wc -l <"$1")
  cat "$1"
  {
    printf '```\n'
    {
      head -n "$summary_rows" "$1"
      if ((rows > summary_rows)); then
        printf '… %d lines more, in the log of this job …\n' $((rows - summary_rows))
        tail -n 3 "$1"
      fi
    } | sed "s/\`\`\`/'''/g"
    printf '```\n'
  } | in_summary
}

at_base() { git cat-file -e "$merge_base:$1" 2>/dev/null; }
only_text() { tr -d '[:space:]'; }
is_decimals() { [[ $1 =~ ^[0-9]{1,2}$ ]] && ((10#$1 <= 18)); }
is_root() { [[ $1 =~ ^(0x)?[0-9a-fA-F]{64}$ ]]; }
bare() {
  local hex=${1#0x}
  printf '%s' "${hex,,}"
}
# The command that writes the root of a list: LIST, ROOT FILE, FLAGS.
remedy() { printf 'write it with: svc merkle build %q --mint MINT%s --jq .root > %q' "$1" "${3:+ ${*:3}}" "$2"; }
said_decimals() { printf '%s' "${1:-none (raw units)}"; }

# Files that are not committed yet count too; a list under another name is one removed and a new one.
list_of() {
  case $1 in
    *.csv) printf '%s' "$1" ;;
    *.root.txt) printf '%s' "${1%.root.txt}.csv" ;;
    *.decimals.txt) printf '%s' "${1%.decimals.txt}.csv" ;;
  esac
}
# Git takes a folder that does not exist for one without changes: it must hold a list, now or at the base.
known=0
while IFS= read -r -d '' file; do
  if [[ $(list_of "$file") != '' ]]; then known=1; fi
done < <(git ls-tree -r -z --name-only "$merge_base" -- "$folder/" && git ls-files -z --cached --others --exclude-standard -- "$folder/")
((known)) || stop "there is no list (NAME.csv) in '$folder', neither here nor at $base"

declare -A lists=()
while IFS= read -r -d '' file; do
  csv=$(list_of "$file")
  if [[ -n $csv ]]; then lists[$csv]=1; fi
done < <(git diff --name-only -z --no-renames "$merge_base" -- "$folder/" && git ls-files -z --others --exclude-standard -- "$folder/")

check() {
  local csv=$1 name=${1%.csv} decimals='' before='' flags=() root='' base_root='' code=0
  local root_file=$name.root.txt decimals_file=$name.decimals.txt
  if [[ ! -e $csv && ! -L $csv ]]; then
    if at_base "$csv"; then say "$csv was removed"; else fail "$csv is missing, though a root or decimals of it are there"; fi
    return
  fi
  checked=$((checked + 1))
  heading "$csv"
  if [[ $(one_line "$csv") != "$csv" ]]; then
    fail "$csv has characters in its name that a review does not show"
    return
  fi
  for file in "$csv" "$root_file" "$decimals_file"; do
    if [[ -L $file ]]; then
      fail "$file is a link: what it leads to is not under review"
      return
    fi
  done
  if [[ -f $decimals_file ]]; then
    decimals=$(only_text <"$decimals_file")
    if ! is_decimals "$decimals"; then
      fail "$decimals_file must hold a number from 0 to 18, not '$decimals'"
      return
    fi
    flags=(--decimals "$decimals")
  fi

  if at_base "$csv"; then
    git show "$merge_base:$csv" >"$before_file"
    if at_base "$decimals_file"; then before=$(git show "$merge_base:$decimals_file" | only_text); fi
    if at_base "$root_file"; then base_root=$(git show "$merge_base:$root_file" | only_text); fi
    if [[ $before != "$decimals" ]]; then
      say "DECIMALS CHANGED: $(said_decimals "$before") → $(said_decimals "$decimals"). The same amount in the file is another payout; the differences below are in raw units."
    fi
    differences "$csv" "$before" "$base_root" "${flags[@]}"
  else
    say 'A new list.'
  fi

  if [[ ! -f $root_file ]]; then
    fail "$root_file is missing; $(remedy "$csv" "$root_file" "${flags[@]}")"
    return
  fi
  root=$(only_text <"$root_file")
  if ! is_root "$root"; then
    fail "$root_file holds no root: 32 bytes in hex are expected"
    return
  fi
  if [[ -n $base_root && $(bare "$root") == "$(bare "$base_root")" ]]; then
    say "Root as at the base: $(bare "$root")"
  elif [[ -n $base_root ]]; then
    say "Root changed: $(bare "$base_root") → $(bare "$root")"
  fi
  "${svc[@]}" merkle verify "$csv" --root "$root" "${flags[@]}" -o table --no-input >"$work/answer" 2>"$work/notes" || code=$?
  cat "$work/notes" >>"$work/answer"
  case $code in
    0) ;;
    1 | 2)
      if [[ $(head -c 3 "$work/answer") == No: ]]; then
        fail "$root_file does not match $csv; if the list is right, $(remedy "$csv" "$root_file" "${flags[@]}")"
      elif ((code == 2)); then
        fail "$csv cannot be read as a list"
      else
        fail "$csv could not be checked"
      fi
      ;;
    *) fail "$csv could not be checked: '${svc[*]}' ended with $code" ;;
  esac
  if ((code == 2)); then annotate_faults "$csv" "$work/answer"; fi
  say_file "$work/answer"
}

# The list at the base, read with the decimals of the base, against the list that is here.
differences() {
  local csv=$1 before=$2 base_root=$3 flags=("${@:4}") code=0 files=(--markdown "$work/difference.md")
  if [[ -n $before ]] && ! is_decimals "$before"; then
    say "The decimals at the base are no number ('$before'): what changed cannot be told."
    return
  fi
  rm -f "$work/difference.md"
  if [[ -n $differences_folder ]]; then
    mkdir -p "$differences_folder/$(dirname -- "$csv")"
    files+=(--csv "$differences_folder/$csv")
  fi
  "${svc[@]}" merkle diff "$before_file" "$csv" "${flags[@]}" --before-decimals "${before:-raw}" "${files[@]}" -o table --no-input >"$work/said" 2>&1 || code=$?
  without_path <"$work/said" >"$work/difference"
  # A list at the base that cannot be read is no reason to refuse the one that repairs it.
  if ((code != 0)); then say "The list at the base or the one here cannot be read: what changed cannot be told."; fi
  if [[ -f $work/difference.md ]]; then
    cat "$work/difference"
    without_path <"$work/difference.md" | in_summary
  else
    say_file "$work/difference"
  fi
  if [[ -z $base_root ]]; then return; fi
  if [[ -n $before ]]; then flags=(--decimals "$before"); else flags=(); fi
  code=0
  "${svc[@]}" merkle verify "$before_file" --root "$base_root" "${flags[@]}" -o table --no-input >/dev/null 2>&1 || code=$?
  if ((code != 0)); then
    say "BASE: the list at $base does not have the root that stands beside it there; the differences are to that list, not to what was funded under $base_root."
  fi
}

mapfile -d '' -t sorted < <(((${#lists[@]})) && printf '%s\0' "${!lists[@]}" | sort -z)
for csv in "${sorted[@]}"; do
  failure=''
  check "$csv"
  test_case "$csv" "$failure"
  if [[ -n $failure ]]; then annotate "$csv" '' '' "$failure"; fi
done
if [[ -n $junit ]]; then write_junit; fi

if ((checked == 1)); then say '1 changed list checked'; else say "$checked changed lists checked"; fi
exit "$failed"
