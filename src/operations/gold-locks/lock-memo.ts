/** What a gold lock's transactions say of the platform that they were built for: `svc:gold-lock:acme`. */

/** A platform_id may hold colons: it is all that follows the second one. */
export const goldLockMemo = (step: 'gold-lock' | 'gold-unlock', platformId: string): string =>
  `svc:${step}:${platformId}`
