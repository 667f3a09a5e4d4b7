/** Answers a shell's request for completions: `svc __complete INDEX WORDS…`, where the word at INDEX is being typed. */
import { readFileSync } from 'node:fs'
import { printable } from '../../ui/render.ts'
import { globalOptionTrees, type NounTree } from '../command-tree.ts'
import { NOUNS, nounEntry } from '../nouns.ts'
import { builtHelp } from '../written-help.ts'
import { type Completion, complete } from './candidates.ts'

/** The most characters of a meaning that are shown. */
const ABOUT_LENGTH = 80

/**
 * The lines for the shell's script: words with their meanings after a tab, and at the end `:none`, `:files` or
 * `:folders` for what the shell itself adds. It never throws.
 */
export async function completionAnswer([index = '0', ...words]: readonly string[]): Promise<string> {
  const at = Math.min(Number(index) || 0, words.length)
  // Some shells do not pass an empty last word.
  const [before, current] = [words.slice(0, at).map(unquoted), unquoted(words[at] ?? '')]
  const completion = await complete(before, current, {
    nouns: NOUNS,
    globals: globalOptionTrees(),
    noun: builtNoun,
    async values(suggestion) {
      const { liveValues } = await import('./live-values.ts')
      return liveValues(suggestion, {
        dataDir: flagValue(before, '--data-dir'),
        profile: flagValue(before, '--profile'),
      })
    },
  }).catch((): Completion => ({ candidates: [], paths: 'none' }))
  const lines = completion.candidates.map(({ value, about }) => `${value}\t${shortened(about)}`)
  return `${[...lines, `:${completion.paths}`].join('\n')}\n`
}

const shortened = (about: string) => {
  const clean = printable(about)
  return clean.length > ABOUT_LENGTH ? `${clean.slice(0, ABOUT_LENGTH - 1)}…` : clean
}

/** A word without the opening quote that some shells pass with it. */
const unquoted = (word: string) => word.replace(/^(["'])(.*?)\1?$/s, '$2')

function flagValue(words: readonly string[], flag: string): string | undefined {
  const at = words.indexOf(flag)
  return at >= 0 ? words[at + 1] : words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1)
}

/** The build has written the verbs of each noun to a file, so that no command is loaded. */
function builtNoun(word: string): NounTree | undefined {
  const entry = nounEntry(word)
  if (entry === undefined) return undefined
  try {
    return JSON.parse(readFileSync(builtHelp(`${entry.name}.commands.json`), 'utf8'))
  } catch {
    return undefined
  }
}
