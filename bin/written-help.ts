/** The help that the build wrote beside the program, so that showing it loads neither a command nor a parser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { helpText, type NounHelp } from './help.ts'
import { nounEntry } from './nouns.ts'

/** The help that argv asks for and nothing else; undefined where the parser has to answer. */
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
function builtHelp(file: string): string {
  const fromSource = import.meta.filename.endsWith('.ts')
  return join(import.meta.dirname, fromSource ? '../dist/help' : 'help', file)
}
