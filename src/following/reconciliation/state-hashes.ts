/** The stored hash of an account's data, prefixed with the number of listings that did not explain its change. */

/** A node may show new data some minutes before its signature index has the transaction. */
const MOST_TRIES = 8

export interface HashAfter {
  /** The new stored value. */
  stored: string
  /** Listings in a row that have not explained the change, or 0 if there is nothing to explain. */
  tries: number
  /** Whether the change is accepted without an explanation after too many listings. */
  isGivenUp: boolean
}

/** Computes the stored value after a complete listing: the new hash if the change is explained, else the old one. */
export function hashAfter(stored: string | null, now: string, isListed: boolean, most = MOST_TRIES): HashAfter {
  const { tries, hash } = partsOf(stored)
  if (hash === null || isListed || now === hash) return { stored: now, tries: 0, isGivenUp: false }
  if (tries >= most) return { stored: now, tries: 0, isGivenUp: true }
  return { stored: `${tries + 1}:${hash}`, tries: tries + 1, isGivenUp: false }
}

/**
 * First character of the stored value while a change is not final. The slot of its first reading and its hash follow.
 */
const AWAITED = '@'

/**
 * Returns the stored value until the final history reaches the slot at which the change was first read. A busy wallet
 * always has newer transactions that are not final.
 */
export const awaitedHash = (stored: string | null, now: string, slot: number): string =>
  `${AWAITED}${awaitedSlot(stored, now) ?? slot}:${now}`

/** Returns the slot at which this change was first read, or null if it is new. */
export function awaitedSlot(stored: string | null, now: string): number | null {
  const [slot = '', hash] = stored?.startsWith(AWAITED) ? stored.slice(1).split(':') : []
  return hash === now ? Number(slot) : null
}

function partsOf(stored: string | null): { tries: number; hash: string | null } {
  if (stored?.startsWith(AWAITED)) return { tries: 0, hash: null }
  const [tries = '', hash] = stored?.split(':') ?? []
  return hash === undefined ? { tries: 0, hash: stored } : { tries: Number(tries), hash }
}
