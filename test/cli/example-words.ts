/** Reads command lines as they stand in examples and documents. */
import { readInputs } from '../../commands/cli/inputs.ts'
import { readCommand } from '../../commands/cli/program.ts'
import type { Ui } from '../../commands/ui/ui.ts'

/** A script's: a missing input is an error, never a question. */
export const NOBODY = { interactive: false } as Ui

/** The command of a line such as `svc keys list --all`: `keys list`. Throws if it does not parse or lacks an input. */
export async function commandOf(example: string): Promise<string> {
  const [program, ...argv] = exampleWords(example)
  const parsed = program === 'svc' ? await readCommand(argv) : { text: '' }
  if ('text' in parsed) throw new Error(`${example} is no command`)
  await readInputs(parsed, { argv, ui: NOBODY })
  return parsed.command
}

/** The words that a shell hands to `svc`, without variables before it and redirections after it. */
export function exampleWords(example: string): string[] {
  const words = [...example.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word)
  while (/^[A-Z_]+=/.test(words[0] ?? '')) words.shift()
  const end = words.findIndex((word) => /^[0-9]*[<>|]/.test(word))
  return words.slice(0, end < 0 ? undefined : end).map((word) => word.replace(/^(["'])(.*)\1$/s, '$2'))
}
