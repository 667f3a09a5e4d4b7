/** Answers a shell that asks what can follow: `svc __complete INDEX WORDS…`, where the word at INDEX is being typed. */
import { readFileSync } from 'node:fs'
import { printable } from '../../ui/render.ts'
import { globalOptionTrees, type NounTree } from '../command-tree.ts'
import { NOUNS, nounEntry } from '../nouns.ts'
import { builtHelp } from '../written-help.ts'
import { type Completion, complete } from './candidates.ts'

/** More characters of a meaning are not shown. */
const ABOUT_LENGTH = 80

/**
 * The lines for the shell's script: a word and what it means with a tab between, and in the end `:none`, `:files` or
 * `:folders`, which says what the shell adds of its own. It never throws.
 */
export async function completionAnswer([index = '0', ...words]: readonly string[]): Promise<string> {
  const at = Math.min(Number(index) || 0, words.length)
  // An empty word in the end gets lost where a shell does not pass it.
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

/** A word without the quote that begins it, which some shells pass as it was typed. */
const unquoted = (word: string) => word.replace(/^(["'])(.*?)\1?$/s, '$2')

function flagValue(words: readonly string[], flag: string): string | undefined {
  const at = words.indexOf(flag)
  return at >= 0 ? words[at + 1] : words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1)
}

/** The build wrote the verbs of each noun into a file, so that no command is loaded. */
function builtNoun(word: string): NounTree | undefined {
  const entry = nounEntry(word)
  if (entry === undefined) return undefined
  try {
    return JSON.parse(readFileSync(builtHelp(`${entry.name}.commands.json`), 'utf8'))
  } catch {
    return undefined
  }
}
