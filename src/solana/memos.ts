/** The memos that transactions of svc carry: what they do, for which asset and for which platform. */

/** `svc:gold-lock:<platform_id>`. A platform id may contain colons, so it is everything after the second one. */
export const goldLockMemo = (step: 'gold-lock' | 'gold-unlock', platformId: string): string =>
  `svc:${step}:${platformId}`

/**
 * `svc:stake:<asset>:<platform_id>`. It names the asset, so that one transaction can contain several. The platform id is
 * everything after the third colon.
 */
export const stakeMemo = (verb: 'stake' | 'release', asset: string, platformId: string): string =>
  `svc:${verb}:${asset}:${platformId}`

/** Names the creator of a raise as a signer, because the program does not: a mistyped one could never take the money. */
export const RAISE_MEMO = 'svc:raise'
