/** The stored hash of an account's data, prefixed with the number of listings that did not explain its change. */

/** A node may show new data some minutes before its signature index has the transaction. */
const MOST_TRIES = 8

interface HashAfter {
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

/** First character of the stored value of an open change. The slot of its first reading, its hash and its tries follow. */
const AWAITED = '@'
/** Listings in a row that add nothing after one that did, until an open change counts as explained. */
const CONFIRMING_TRIES = 3

/**
 * Returns the stored value of a change that is open: transactions were listed, and the listing has not passed the slot at
 * which the change was first read. A node's index may lag behind its accounts, so more of them may follow.
 */
export function awaitedHash(stored: string | null, now: string, slot: number, tries = 0): string {
  const open = `${AWAITED}${awaitedSlot(stored, now) ?? slot}:${now}`
  return tries === 0 ? open : `${open}:${tries}`
}

/** Returns the slot at which this change was first read, or null if it is new. */
export function awaitedSlot(stored: string | null, now: string): number | null {
  const open = openOf(stored)
  return open?.hash === now ? open.slot : null
}

/** Computes the stored value after a listing that added nothing to an open change; null if no change is open. */
export function awaitedAfter(stored: string | null, now: string, slot: number): HashAfter | null {
  const open = openOf(stored)
  if (open === null) return null
  const tries = open.hash === now ? open.tries + 1 : 1
  if (tries > CONFIRMING_TRIES) return { stored: now, tries: 0, isGivenUp: false }
  return { stored: awaitedHash(stored, now, slot, tries), tries, isGivenUp: false }
}

function openOf(stored: string | null): { slot: number; hash: string; tries: number } | null {
  if (!stored?.startsWith(AWAITED)) return null
  const [slot, hash = '', tries = 0] = stored.slice(AWAITED.length).split(':')
  return { slot: Number(slot), hash, tries: Number(tries) }
}

function partsOf(stored: string | null): { tries: number; hash: string | null } {
  if (stored?.startsWith(AWAITED)) return { tries: 0, hash: null }
  const [tries = '', hash] = stored?.split(':') ?? []
  return hash === undefined ? { tries: 0, hash: stored } : { tries: Number(tries), hash }
}
