/** Keys of rows, which follow from a row's content: a list that is run again makes nothing twice. */
import { createHmac } from 'node:crypto'

/**
 * The rows with their ids: a row's content and the number of equal rows before it, so that rows may be added and
 * reordered between runs.
 */
export function withIds<R>(rows: readonly R[], contentOf: (row: R) => readonly unknown[]): (R & { id: string })[] {
  const counts = new Map<string, number>()
  return rows.map((row) => {
    const text = JSON.stringify(contentOf(row))
    const before = counts.get(text) ?? 0
    counts.set(text, before + 1)
    return { ...row, id: `${before}:${text}` }
  })
}

/** The seed of a row's key, 32 bytes; the same row has the same key in every run. `seed` is the journal's, in hex. */
export const seedOf = (seed: unknown, id: string): Uint8Array =>
  createHmac('sha256', Buffer.from(String(seed), 'hex'))
    .update(id)
    .digest()

/** Entries of the journal, by id, whose rows the file no longer has. */
export function goneEntries<E>({ entries }: { entries: ReadonlyMap<string, E> }, rows: readonly { id: string }[]) {
  const listed = new Set(rows.map(({ id }) => id))
  return [...entries].filter(([id]) => !listed.has(id))
}
