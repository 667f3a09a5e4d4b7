/** Remembers signed claims that have neither landed nor expired, so that nothing is signed twice after a reload. */

export interface PendingClaim {
  wallet: string
  signature: string
  /** The signed transaction in base64, or null if the wallet sent it. */
  transaction: string | null
  /** Block height after which it can no longer land. */
  lastValidBlockHeight: number
}

const PREFIX = 'svc-claim:'

/** Storage may be disabled or full; the page then remembers until it is closed. */
const memory = new Map<string, string>()

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(PREFIX + key) ?? memory.get(key) ?? null
  } catch {
    return memory.get(key) ?? null
  }
}

export function remember(key: string, value: string | null): void {
  if (value === null) memory.delete(key)
  else memory.set(key, value)
  try {
    if (value === null) localStorage.removeItem(PREFIX + key)
    else localStorage.setItem(PREFIX + key, value)
  } catch {
    // The value stays in memory.
  }
}

const keyFor = (wallet: string, genesisHash: string) => `pending:${genesisHash.slice(0, 8)}:${wallet}`

/** Stored values may be from another page of the same origin. */
export function pendingClaimOf(wallet: string, genesisHash: string): PendingClaim | null {
  try {
    const claim = JSON.parse(remembered(keyFor(wallet, genesisHash)) ?? 'null') as PendingClaim | null
    if (claim === null || claim.wallet !== wallet || !/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(claim.signature)) return null
    if (!Number.isSafeInteger(claim.lastValidBlockHeight)) return null
    const isWire = typeof claim.transaction === 'string' && claim.transaction.length < 2_000
    return { ...claim, transaction: isWire ? claim.transaction : null }
  } catch {
    return null
  }
}

export const keepPendingClaim = (claim: PendingClaim, genesisHash: string): void =>
  remember(keyFor(claim.wallet, genesisHash), JSON.stringify(claim))

export const forgetPendingClaim = (wallet: string, genesisHash: string): void =>
  remember(keyFor(wallet, genesisHash), null)
