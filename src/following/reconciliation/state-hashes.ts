/** What is kept of an account's data: its hash, behind how often the account had changed while no transaction was listed. */

/** A node may show data before its index of signatures has the transaction: for minutes, at most. */
const MOST_TRIES = 8

export interface HashAfter {
  /** What is stored of the account. */
  stored: string
  /** Listings in a row that have not explained the change; 0 where there is nothing to explain. */
  tries: number
  /** Whether the change is taken without an explanation, because no listing has shown one for too long. */
  isGivenUp: boolean
}

/** Computes what is stored after a listing to the end: the new hash where something explains the change, else the old. */
export function hashAfter(stored: string | null, now: string, isListed: boolean, most = MOST_TRIES): HashAfter {
  const { tries, hash } = partsOf(stored)
  if (hash === null || isListed || now === hash) return { stored: now, tries: 0, isGivenUp: false }
  if (tries >= most) return { stored: now, tries: 0, isGivenUp: true }
  return { stored: `${tries + 1}:${hash}`, tries: tries + 1, isGivenUp: false }
}

/** First character of what is kept while a change is not final: the slot at which it was first read, and its hash. */
const AWAITED = '@'

/**
 * Returns what is stored until the history is known, as final, to the slot at which a change was first read: a wallet
 * that never rests has always something newer that is not final.
 */
export const awaitedHash = (stored: string | null, now: string, slot: number): string =>
  `${AWAITED}${awaitedSlot(stored, now) ?? slot}:${now}`

/** Returns the slot at which this change was first read, or null where it was not read before. */
export function awaitedSlot(stored: string | null, now: string): number | null {
  const [slot = '', hash] = stored?.startsWith(AWAITED) ? stored.slice(1).split(':') : []
  return hash === now ? Number(slot) : null
}

function partsOf(stored: string | null): { tries: number; hash: string | null } {
  if (stored?.startsWith(AWAITED)) return { tries: 0, hash: null }
  const [tries = '', hash] = stored?.split(':') ?? []
  return hash === undefined ? { tries: 0, hash: stored } : { tries: Number(tries), hash }
}
