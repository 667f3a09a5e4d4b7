/** Formats the memo of a gold lock's transactions, which names their platform: `svc:gold-lock:acme`. */

/** A platform_id may contain colons, so it is everything after the second one. */
export const goldLockMemo = (step: 'gold-lock' | 'gold-unlock', platformId: string): string =>
  `svc:${step}:${platformId}`
