/** Shows the help and commands that the build wrote beside the program, without loading a command or a parser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { helpText, type NounHelp } from './help.ts'
import { nounEntry } from './nouns.ts'

/** All commands as one JSON document, for `svc help --json`; undefined if argv asks for something else. */
export function writtenCommands(argv: readonly string[]): string | undefined {
  const isAsked = argv.length === 2 && argv.includes('--json') && (argv.includes('help') || argv.includes('--help'))
  if (!isAsked) return undefined
  try {
    return readFileSync(builtHelp('commands.json'), 'utf8')
  } catch {
    return undefined
  }
}

/** The help, if argv asks only for help; undefined if the parser must answer. */
export function writtenHelp(argv: readonly string[], columns: () => number | undefined): string | undefined {
  const last = argv.at(-1)
  const words = argv[0] === 'help' ? argv.slice(1) : last === '--help' || last === '-h' ? argv.slice(0, -1) : []
  const [noun, ...verbs] = words
  const name = nounEntry(noun)?.name
  const verb = verbs.join(' ')
  if (words.some((word) => word === '' || word.includes(' ')) || name === undefined) return undefined
  try {
    const help: NounHelp = JSON.parse(readFileSync(builtHelp(`${name}.json`), 'utf8'))
    const model = Object.hasOwn(help, verb) ? help[verb] : undefined
    return model && helpText(model, columns())
  } catch {
    return undefined
  }
}

/** The file is beside the built program, or in dist/ when the program runs from source. */
export function builtHelp(file: string): string {
  const fromSource = import.meta.filename.endsWith('.ts')
  return join(import.meta.dirname, fromSource ? '../../dist/help' : 'help', file)
}
