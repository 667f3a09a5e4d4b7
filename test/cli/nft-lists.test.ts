/** What of a list of NFTs is to be minted, against an API that is busy or far away. */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Session } from '../../commands/cli/session.ts'
import { type KeyedJournal, planKeyedRows } from '../../commands/lists/keyed-rows.ts'
import { MINT_KIND } from '../../commands/nfts/index.ts'
import { ApiError } from '../../src/platform/errors.ts'

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const seedOf = (id: string) => createHmac('sha256', Buffer.alloc(32)).update(id).digest('hex')
const NAMES = new Map([
  ...Array.from({ length: 150 }, (_, i) => [seedOf(`0:["n${i}","https://a.b","o"]`), `n${i}`] as const),
  ...['old', 'older'].map((name) => [seedOf(name), name] as const),
])

/** Answers after these faults; the address of an asset is the name of its row. */
function api(faults: ApiError[], there: readonly string[]) {
  const asked: string[][] = []
  const waits: number[] = []
  const session = {
    clock: { now: () => 1_000_000, sleep: async (ms: number) => void waits.push(ms) },
    ui: { progress: () => () => undefined, clear: () => undefined },
    wallet: { derive: async (seed: Uint8Array) => ({ address: NAMES.get(hexOf(seed)) ?? '', secretKey: [] }) },
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

const listed = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `n${i}`, uri: 'https://a.b', owner: 'o', line: i + 1 }))
/** A journal with rows that earlier runs have begun. */
const journalOf = (begun: Record<string, number> = {}) =>
  ({
    file: 'j',
    head: { seed: '00'.repeat(32) },
    entries: new Map(Object.entries(begun).map(([name, at]) => [name, { name, at }])),
  }) as unknown as KeyedJournal
const contentOf = ({ name, uri, owner }: ReturnType<typeof listed>[number]) => [name, uri, owner]
const listOf = (count: number, begun?: Record<string, number>) => ({
  ...{ kind: MINT_KIND, journal: journalOf(begun), contentOf, listed: listed(count) },
  // Journals of older versions name no transactions.
  ...{ isTrusted: true, demand: () => Promise.reject(new Error('nothing was read')) },
})
const plan = (session: Session, count: number, begun?: Record<string, number>) =>
  planKeyedRows(session, listOf(count, begun))
const quota = () => new ApiError('rate_limited', 'Too many requests this minute')

describe('A list of NFTs', () => {
  it('waits for its rate limit and retries a lost read, batch by batch', async () => {
    const faults = [...Array.from({ length: 20 }, quota), new ApiError('internal_error', 'gone')]
    const { session, asked, waits } = api(faults, ['n3'])
    const planned = await plan(session, 150)
    expect(asked.map(({ length }) => length)).toEqual([100, 50])
    expect(waits).toEqual([...Array.from({ length: 20 }, () => 5_000), 1_000])
    expect(planned.filter(({ status }) => status === 'there already').map(({ name }) => name)).toEqual(['n3'])
  })

  it('reads only assets that did not exist before, and remembers those that do', async () => {
    const { session, asked } = api([], ['n1'])
    const before = await plan(session, 3)
    const later = api([], ['n1', 'n2'])
    const now = await planKeyedRows(later.session, { ...listOf(3), before })
    expect([asked, later.asked]).toEqual([[['n0', 'n1', 'n2']], [['n0', 'n2']]])
    expect(now.map(({ status }) => status)).toEqual(['to do', 'there already', 'there already'])
  })

  it('gives up on any refusal except the rate limit', async () => {
    const refused = api([new ApiError('forbidden', 'Invalid or revoked API key')], [])
    await expect(plan(refused.session, 1)).rejects.toThrow('revoked')
    expect(refused.waits).toEqual([])
  })

  it('is not started while a removed row may still be minted, or once it is minted', async () => {
    await expect(plan(api([], []).session, 1, { older: 1, old: 999_000 })).rejects.toMatchObject({
      message: '"old" of an earlier run is not in the CSV any more, and may still be minted',
      next: expect.stringContaining('in 179 seconds'),
    })
    const minted = api([], ['old'])
    await expect(plan(minted.session, 1, { old: 1 })).rejects.toThrow('"old" was minted (old)')
    expect(await plan(api([], []).session, 1, { old: 1 })).toHaveLength(1)
  })
})
