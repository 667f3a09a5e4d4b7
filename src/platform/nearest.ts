/** Finds the known words that are nearest to a typed one. */

/** Longer words cannot be typing mistakes of names here, and would take long to compare. */
const LONGEST_WORD = 40
const MOST_SUGGESTED = 3
/** The most values that an error lists. With more, it names only the nearest. */
export const MOST_LISTED = 8

/** The number of edits between two words: letters that are missing, extra, wrong, or swapped with the next one. */
export function editDistance(one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1]
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      const steps = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1)]
      row[j] = Math.min(...steps, ...(swapped ? [(before[j - 2] ?? 0) + 1] : []))
    }
    ;[before, last] = [last, row]
  }
  return last[other.length] ?? 0
}

/** The names that the word may mean, the nearest first: by typing mistakes, otherwise names that begin with it. */
export function nearestNames(word: string, names: Iterable<string>): string[] {
  const typed = word.toLowerCase()
  if (typed.length > LONGEST_WORD) return []
  const all = [...new Set(names)]
  const bound = typed.length < 3 ? 1 : Math.min(3, Math.ceil(typed.length / 3))
  const close = all
    .map((name) => ({ name, steps: editDistance(typed, name.toLowerCase()) }))
    .filter(({ name, steps }) => steps <= bound && steps < name.length)
    .sort((a, b) => a.steps - b.steps)
  const least = close[0]?.steps
  if (least !== undefined)
    return close
      .filter(({ steps }) => steps === least)
      .map(({ name }) => name)
      .slice(0, MOST_SUGGESTED)
  return typed.length < 3 ? [] : all.filter((name) => name.toLowerCase().startsWith(typed)).slice(0, MOST_SUGGESTED)
}

/** The names that the word may mean: existing ones that the table has for it, otherwise the nearest. */
export function meantNames(
  word: string,
  names: readonly string[],
  synonyms: Readonly<Record<string, readonly string[]>>,
): string[] {
  const key = word.toLowerCase()
  const meant = Object.hasOwn(synonyms, key) ? (synonyms[key] ?? []) : []
  const there = meant.filter((name) => names.includes(name.replace(/=.*/, '')))
  return there.length > 0 ? there : nearestNames(word, names)
}
