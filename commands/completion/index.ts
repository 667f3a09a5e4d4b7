/** `svc completion`: the script with which a shell completes the command line. */

import { basename, resolve } from 'node:path'
import { choiceOf, type Noun, required, verb } from '../cli/command.ts'
import { completionScript, SHELLS } from './scripts.ts'

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
