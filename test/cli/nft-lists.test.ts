/** What of a list of NFTs is to be minted, against an API that is busy or far away. */
import { describe, expect, it } from 'vitest'
import { planMints } from '../../commands/nfts/list-plan.ts'
import type { Session } from '../../commands/session.ts'
import { ApiError } from '../../src/errors.ts'

/** Answers after these faults; addresses are the first byte of their seeds. */
function api(faults: ApiError[], there: readonly string[]) {
  const asked: string[][] = []
  const waits: number[] = []
  const session = {
    clock: { now: () => 1_000_000, sleep: async (ms: number) => void waits.push(ms) },
    ui: { progress: () => () => undefined, clear: () => undefined },
    wallet: { derive: async ([first]: Uint8Array) => ({ address: `a${first}`, secretKey: [] }) },
    client: {
      accounts: {
        async batchFetch({ addresses }: { addresses: string[] }) {
          const fault = faults.shift()
          if (fault !== undefined) throw fault
          asked.push(addresses)
          const owner = 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d'
          return { data: { accounts: addresses.map((address) => (there.includes(address) ? { owner } : null)) } }
        },
      },
    },
  } as unknown as Session
  return { session, asked, waits }
}

const rows = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `n${i}`,
    uri: 'https://a.b',
    owner: 'o',
    line: i + 1,
    assetSeed: Uint8Array.of(i),
  }))
const quota = () => new ApiError('rate_limited', 'Too many requests this minute')

describe('a list', () => {
  it('waits for its quota and asks a lost read again, batch by batch', async () => {
    const { session, asked, waits } = api([quota(), quota(), new ApiError('internal_error', 'gone')], ['a3'])
    const planned = await planMints(session, 'j', { rows: rows(150), gone: [], sentAt: 0 })
    expect(asked.map(({ length }) => length)).toEqual([100, 50])
    expect(waits).toEqual([5_000, 5_000, 1_000])
    expect(planned.filter(({ status }) => status === 'there already').map(({ name }) => name)).toEqual(['n3'])
  })

  it('asks only for what was not there before, and remembers what is there now', async () => {
    const { session, asked } = api([], ['a1'])
    const before = await planMints(session, 'j', { rows: rows(3), gone: [], sentAt: 0 })
    const later = api([], ['a1', 'a2'])
    await planMints(later.session, 'j', { rows: rows(3), gone: [], sentAt: 0 }, before)
    expect([asked, later.asked]).toEqual([[['a0', 'a1', 'a2']], [['a0', 'a2']]])
    expect(before.map(({ status }) => status)).toEqual(['to mint', 'there already', 'there already'])
  })

  it('gives up on a quota that does not come back, and on any other refusal at once', async () => {
    const busy = api(Array.from({ length: 20 }, quota), [])
    await expect(planMints(busy.session, 'j', { rows: rows(1), gone: [], sentAt: 0 })).rejects.toThrow(
      'Too many requests',
    )
    const refused = api([new ApiError('forbidden', 'Invalid or revoked API key')], [])
    await expect(planMints(refused.session, 'j', { rows: rows(1), gone: [], sentAt: 0 })).rejects.toThrow('revoked')
    expect(refused.waits).toEqual([])
  })

  it('is not begun while a row that it has lost may still be minted, nor once it was', async () => {
    const gone = [{ name: 'old', assetSeed: Uint8Array.of(9) }]
    const early = api([], [])
    const soon = { rows: rows(1), gone, sentAt: 999_000 }
    await expect(planMints(early.session, 'j', soon)).rejects.toThrow(
      '"old" of an earlier run is not in the CSV any more',
    )
    const minted = api([], ['a9'])
    await expect(planMints(minted.session, 'j', { ...soon, sentAt: 0 })).rejects.toThrow('"old" was minted (a9)')
    expect(await planMints(api([], []).session, 'j', { ...soon, sentAt: 1 })).toHaveLength(1)
  })
})
