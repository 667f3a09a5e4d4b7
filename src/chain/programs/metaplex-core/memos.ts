/** Parses the memo of a stake or release (`stakeMemo`). */

/**
 * Returns null for another kind of memo. Anyone can write memos, so a platform id that the API would refuse is read as
 * none.
 */
export function readStakeMemo(
  data: Uint8Array,
): { verb: 'stake' | 'release'; asset: string; platformId: string | null } | null {
  const text = Buffer.from(data).toString('utf8')
  const match = /^svc:(stake|release):([1-9A-HJ-NP-Za-km-z]{32,44}):([\s\S]*)$/.exec(text)
  if (match === null) return null
  const [, verb, asset, id] = match as unknown as [string, 'stake' | 'release', string, string]
  return { verb, asset, platformId: isPlatformId(id) ? id : null }
}

const LONGEST_ID = 64
const isPlatformId = (id: string) => id.length > 0 && id.length <= LONGEST_ID && !/\p{Cc}/u.test(id)
