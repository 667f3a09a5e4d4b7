/** `svc completion`: the script with which a shell completes the command line. */
import { basename, resolve } from 'node:path'
import { choiceOf, type Noun, required, verb } from '../cli/command.ts'

// The scripts that shells load: each passes the typed words to `svc __complete` and offers what that answers.

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const
type Shell = (typeof SHELLS)[number]

/**
 * Bash splits words at = and :, so they are joined again. The part that bash keeps before the cursor is cut off each
 * value.
 */
const BASH = `# Completion of svc for bash: source <(svc completion bash)
_svc_complete() {
  local words=() word rest=\${COMP_LINE:0:COMP_POINT} i current kept line value paths
  COMPREPLY=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((i > 0)) && [[ -n $word && $rest != [[:space:]]* ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    rest=\${rest#"\${rest%%[![:space:]]*}"}
    rest=\${rest#"$word"}
  done
  current=\${words[\${#words[@]} - 1]}
  word=\${COMP_WORDS[COMP_CWORD]}
  [[ $word == [=:] ]] && word=
  kept=\${current%"$word"}
  while IFS= read -r line; do
    if [[ $line == :none || $line == :files || $line == :folders ]]; then
      paths=$line
    else
      value=\${line%%$'\\t'*}
      COMPREPLY+=("\${value#"$kept"}")
    fi
  done < <(command svc __complete "$((\${#words[@]} - 2))" "\${words[@]:1}" 2>/dev/null)
  if [[ $paths == :files || $paths == :folders ]]; then
    compopt -o filenames 2>/dev/null
    local kind=-f
    [[ $paths == :folders ]] && kind=-d
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$kind" -- "$word")
  fi
}
complete -F _svc_complete svc
`

const ZSH = `#compdef svc
# Completion of svc for zsh: source <(svc completion zsh), or as a file _svc in a folder of $fpath
_svc() {
  local -a lines described values abouts
  local line value about
  lines=("\${(@f)$(command svc __complete $((CURRENT - 2)) "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    value=\${line%%$'\\t'*}
    about=\${line#*$'\\t'}
    case $line in
      (:none) ;;
      (:files) [[ $PREFIX == --*=* ]] && compset -P '*='; _files ;;
      (:folders) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/ ;;
      ('') ;;
      (*)
        if [[ $value == "\${(Q)PREFIX}"* ]]; then
          described+=("\${\${value//\\\\/\\\\\\\\}//:/\\\\:}:$about")
        else
          values+=("$value")
          abouts+=("$value  -- $about")
        fi ;;
    esac
  done
  (( $#described )) && _describe -V 'svc' described
  # Matches by meaning do not begin with the typed text.
  (( $#values )) && compadd -U -l -d abouts -- "\${values[@]}"
  return 0
}
if [[ \${funcstack[1]} == _svc ]]; then
  _svc "$@"
elif (( $+functions[compdef] )); then
  compdef _svc svc
fi
`

const FISH = `# Completion of svc for fish: svc completion fish > ~/.config/fish/completions/svc.fish
function __svc_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (command svc __complete (count $words) $words "$current" 2>/dev/null)
    for line in $lines
        switch "$line"
            case :none
            case :files
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
            case :folders
                __fish_complete_directories (string replace -r '^--[^=]*=' '' -- "$current") ''
            case '*'
                printf '%s\\n' "$line"
        end
    end
end
complete -c svc -e
complete -c svc -k -f -a '(__svc_complete)'
`

const POWERSHELL = `# Completion of svc for PowerShell: svc completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition -or $wordToComplete -eq '' } |
        ForEach-Object { $_.Extent.Text })
    $program = (Get-Command svc -CommandType Application, ExternalScript -ErrorAction SilentlyContinue |
        Select-Object -First 1)
    if (-not $program) { return }
    foreach ($line in @(& $program __complete $words.Count @words $wordToComplete 2>$null)) {
        if ($line -eq ':none') { continue }
        if ($line -eq ':files' -or $line -eq ':folders') {
            [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
            continue
        }
        $value, $about = $line -split [char]9, 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
`

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  powershell: POWERSHELL,
}

const FOUND_BY_POWERSHELL = /\$program = \(Get-Command[^)]*\)/

/** The script for a shell, which runs these words, or the command `svc` for null. */
export function completionScript(shell: Shell, program: readonly [node: string, file: string] | null): string {
  const script = SCRIPTS[shell]
  if (program === null) return script
  if (shell === 'powershell') {
    const [node, file] = program.map((word) => `'${word.replaceAll("'", "''")}'`)
    return script.replace(FOUND_BY_POWERSHELL, () => `$program = { & ${node} ${file} @args }`)
  }
  const words = program.map((word) =>
    shell === 'fish' ? `'${word.replace(/[\\']/g, '\\$&')}'` : `'${word.replaceAll("'", "'\\''")}'`,
  )
  return script.replaceAll('command svc __complete', () => `command ${words.join(' ')} __complete`)
}

/** The words that run this program where `svc` is only an alias, as in a clone; null if a command `svc` runs it. */
function ownProgram(): [string, string] | null {
  const [, program = ''] = process.argv
  return basename(program) === 'svc.js' ? [process.execPath, resolve(program)] : null
}

export const completionNoun: Noun = {
  verb: verb({
    about: 'Print the script that completes commands in a shell',
    details:
      'Completes commands, options and choices, and with a running daemon its airdrops, pools, tokens, keys, webhooks and presets. Bash: `source <(svc completion bash)` in ~/.bashrc. Zsh: `source <(svc completion zsh)` in ~/.zshrc, after compinit. Fish: `svc completion fish > ~/.config/fish/completions/svc.fish`. PowerShell: `svc completion powershell | Out-String | Invoke-Expression` in $PROFILE.',
    args: { shell: required(choiceOf(SHELLS, 'Shell that loads it')) },
    examples: ['svc completion bash', 'svc completion zsh', 'svc completion fish', 'svc completion powershell --json'],
    async run({ shell }) {
      const script = completionScript(shell, ownProgram())
      return { data: { shell, script }, text: script.trimEnd(), rows: { columns: ['script'], rows: [[script]] } }
    },
  }),
}
