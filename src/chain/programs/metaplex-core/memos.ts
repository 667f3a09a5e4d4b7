/** The memo that a stake or its release carries: it names the asset, so that one transaction can hold several. */

/** `svc:stake:<asset>:<platform_id>` or `svc:release:…`; the platform id is all that follows the third colon. */
export const stakeMemo = (verb: 'stake' | 'release', asset: string, platformId: string): string =>
  `svc:${verb}:${asset}:${platformId}`

/** Null for a memo of another kind. Memos are anybody's: a platform id that the API would not take reads as none. */
export function readStakeMemo(
  data: Uint8Array,
): { verb: 'stake' | 'release'; asset: string; platformId: string | null } | null {
  const text = Buffer.from(data).toString('utf8')
  const found = /^svc:(stake|release):([1-9A-HJ-NP-Za-km-z]{32,44}):([\s\S]*)$/.exec(text)
  if (found === null) return null
  const [, verb, asset, id] = found as unknown as [string, 'stake' | 'release', string, string]
  return { verb, asset, platformId: isPlatformId(id) ? id : null }
}

const LONGEST_ID = 64
const isPlatformId = (id: string) => id.length > 0 && id.length <= LONGEST_ID && !/\p{Cc}/u.test(id)
