/** Cuts lists of values for statements, of which each takes a limited number. */

/** Longest list of one statement; below SQLite's limit of variables for every table here. */
const LONGEST_LIST = 512

export function partsOf<V>(list: readonly V[]): V[][] {
  const parts: V[][] = []
  for (let from = 0; from < list.length; from += LONGEST_LIST) parts.push(list.slice(from, from + LONGEST_LIST))
  return parts
}
