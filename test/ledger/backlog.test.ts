/** The ledger after an upgrade: what is new does not wait for the past, and what no node has any more is rarely asked for. */
import { Keypair, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { repairMoments } from '../../src/operations/clock-repair.ts'
import { writeLedger } from '../../src/operations/ledger/write-ledger.ts'
import { DAY_MS } from '../../src/platform/timing.ts'
import { dueUnread, readEntries, unledgered } from '../../src/store/ledger/ledger.ts'
import { airdropsOn } from '../support/airdrops.ts'
import { signed } from '../support/local-chain.ts'
import { startPlatform } from '../support/platform-wallet.ts'

type Lie = (method: string, answer: unknown) => unknown

/** Transactions that are final, of which those of the past were stored days ago; the ledger has read none. */
async function behind({
  past,
  recent,
  isToPlatform = false,
}: {
  past: number
  recent: number
  isToPlatform?: boolean
}) {
  const service = await startPlatform(null)
  const all = await airdropsOn(service)
  const { chain, wallet, submit, settle, pass } = all
  const payer = wallet()
  const signatures: string[] = []
  for (let n = 0; n < past + recent; n++) {
    if (n === past) pass((3 * DAY_MS) / 1_000)
    const toPubkey = (isToPlatform ? service.wallet : Keypair.generate()).publicKey
    const made = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: 1_000_000 + n })
    const raw = signed([made], [payer], { blockhash: chain.latestBlockhash().blockhash })
    signatures.push(await submit({ transaction: Buffer.from(raw).toString('base64') }, payer))
    pass(1)
    if (n === past - 1) await settle()
  }
  await settle()
  pass(20)
  await settle()
  const lying: { lie: Lie; calls: string[] } = { lie: (_, answer) => answer, calls: [] }
  const node = service.services.chain
  const call = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    lying.calls.push(method)
    return lying.lie(method, await node.call(method, params)) as T
  }
  const services = { ...service.services, chain: { ...node, call } }
  const { db } = services.store
  const genesis = await node.genesisHash()
  const waiting = async () => (await unledgered(db, { genesis, limit: 100 })).map(({ signature }) => signature)
  expect(await waiting()).toEqual(signatures)
  return {
    ...all,
    ...{ services, signatures, lying, genesis, db, waiting },
    round: (calls: number) => writeLedger(services, { calls }),
    /** Places of the transactions that have entries, in the order of writing. */
    async written() {
      const entries = await readEntries(db, genesis, signatures)
      return [...new Set(entries.map(({ signature }) => signatures.indexOf(signature)))]
    },
  }
}

describe('a ledger that is behind', () => {
  it('reads new transactions in half of each round, the newest first, and old ones from the beginning', async () => {
    const { round, written, waiting } = await behind({ past: 8, recent: 3 })
    await round(4)
    expect(new Set(await written())).toEqual(new Set([9, 10, 0, 1]))
    await round(4)
    expect(new Set((await written()).slice(4))).toEqual(new Set([8, 2, 3, 4]))
    await round(4)
    expect(await waiting()).toEqual([])
  })

  it('compares no balance across the gap between new and old, until all is read', async () => {
    const { ok, round } = await behind({ past: 4, recent: 2, isToPlatform: true })
    await round(3)
    const follow = () => ok('GET', '/v2/ledger/verification?cursor=accounts.0')
    expect(await follow()).toMatchObject({ faults: [], accounts: [], waiting: 3, next_cursor: null })
    await round(10)
    expect(await follow()).toMatchObject({ faults: [], accounts: [{}], next_cursor: 'holdings.0' })
  })

  it("retries after days what is older than the node's history, and soon what the node should have", async () => {
    const { round, lying, services, signatures, db, genesis, pass, waiting } = await behind({ past: 2, recent: 2 })
    const own = await unledgered(db, { genesis, limit: 100 })
    const start = own[2]!.slot!
    lying.lie = (method, answer) =>
      method === 'getTransaction' ? null : method === 'getFirstAvailableBlock' ? start : answer
    await round(10)
    expect(await waiting()).toEqual([])
    const due = async (ms: number) => {
      const rows = await dueUnread(db, { genesis, now: services.clock.now() + ms, limit: 100 })
      return rows.map(({ signature }) => signatures.indexOf(signature)).sort()
    }
    expect([await due(0), await due(10_000), await due(DAY_MS - 1)]).toEqual([[], [2, 3], [2, 3]])
    expect(await due(DAY_MS)).toEqual([0, 1, 2, 3])
    for (const days of [1, 2, 4, 8, 16]) {
      pass((days * DAY_MS) / 1_000)
      while ((await round(10)) > 0);
    }
    expect([await due(DAY_MS), await due(32 * DAY_MS - 1), await due(32 * DAY_MS)]).toEqual([
      [2, 3],
      [2, 3],
      [0, 1, 2, 3],
    ])
    // A wait as long as this is not taken for that of a wrong clock.
    await repairMoments(services)
    expect(await due(0)).toEqual([])
    lying.lie = (_, answer) => answer
    pass((32 * DAY_MS) / 1_000)
    await round(10)
    expect(await due(365 * DAY_MS)).toEqual([])
  })
})
