/** Slot time and rent of the embedded chain: read from a cluster, kept with the chain, and changed without a jump in time. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pullSettings } from '../../src/chain/program-cache/settings.ts'
import { folderSource, rpcSource } from '../../src/chain/program-cache/source.ts'
import { GENESIS_SLOT, SlotClock } from '../../src/localnet/clock.ts'
import { localFetch } from '../../src/localnet/fetch.ts'
import { openLocalChain } from '../../src/localnet/index.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import { loadSqlite } from '../../src/platform/native-modules.ts'
import { type ClusterSettings, DEFAULT_SETTINGS, settingsJson } from '../../src/solana/cluster-settings.ts'
import { RENT_SYSVAR } from '../../src/solana/program-ids.ts'
import { memo, openTestChain, START_MS } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const home = makeSharedFolder('svc-settings-')
const folder = () => mkdtempSync(join(home, 'cache-'))
const OTHER: ClusterSettings = {
  slotMs: 350,
  rent: { lamportsPerByte: 5_080n, exemptionThreshold: 1, burnPercent: 50 },
  consensus: 'tower',
}
const now = () => Date.UTC(2026, 10, 1)
/** A cluster whose nodes answer each method so. */
const answering = (answers: Record<string, unknown>) =>
  rpcSource(
    { rpcUrl: 'http://cluster', label: 'a cluster' },
    {
      attempts: 1,
      fetch: async (_, init) => {
        const { method } = JSON.parse(String(init?.body))
        return new Response(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answers[method] ?? null }))
      },
    },
  )
const sysvar = (bytes: Uint8Array) => ({
  context: { slot: 7 },
  value: { lamports: 1, owner: '', executable: false, data: [Buffer.from(bytes).toString('base64'), 'base64'] },
})
const rentBytes = (perByte: bigint, threshold: number, burn: number) => {
  const bytes = Buffer.alloc(17)
  bytes.writeBigUInt64LE(perByte)
  bytes.writeDoubleLE(threshold, 8)
  bytes[16] = burn
  return bytes
}
const sample = (numSlots: unknown, samplePeriodSecs: unknown = 60) => ({
  slot: 1,
  numTransactions: 1,
  numSlots,
  samplePeriodSecs,
})

describe('a pull of chain settings', () => {
  it('takes slot time and rent from a cluster, and the next chain uses them', async () => {
    const cluster = await openTestChain({ settings: OTHER })
    const programsDir = folder()
    const source = rpcSource(
      { rpcUrl: 'http://cluster', label: 'other' },
      { fetch: localFetch(createRpc(cluster.chain)) },
    )
    expect(await pullSettings({ folder: programsDir, source, now })).toMatchObject({ status: 'written', error: null })
    // 60 seconds hold 171 slots of 350 ms, which makes 351.
    const pulled = { ...OTHER, slotMs: 351 }
    expect(JSON.parse(readFileSync(join(programsDir, 'cluster.json'), 'utf8'))).toEqual({
      ...settingsJson(pulled),
      source: 'other',
      slot: expect.any(Number),
      fetched_at: '2026-11-01T00:00:00.000Z',
    })
    expect((await pullSettings({ folder: programsDir, source, now })).status).toBe('unchanged')
    const copy = folder()
    expect((await pullSettings({ folder: copy, source: folderSource(programsDir), now })).status).toBe('written')
    const { chain } = await openTestChain({ programsDir: copy })
    expect(chain.status().settings).toEqual(pulled)
    expect([chain.slotMs(), chain.minimumBalance(0), chain.minimumBalance(165)]).toEqual([351, 650_240n, 1_488_440n])
    expect(Buffer.from(chain.account(RENT_SYSVAR)!.data)).toEqual(rentBytes(5_080n, 1, 50))
  })

  it('takes the median of the samples, without impossible ones', async () => {
    const samples = [
      sample(300),
      sample(290),
      sample(310),
      sample(1),
      sample(0),
      sample('9'),
      sample(200, -1),
      null,
      sample(9e15),
    ]
    const source = answering({ getRecentPerformanceSamples: samples, getAccountInfo: sysvar(rentBytes(3_480n, 2, 50)) })
    const { status, settings } = await pullSettings({ folder: folder(), source, now })
    expect([status, settings]).toEqual([
      'written',
      {
        slot_ms: 200,
        consensus: 'tower',
        rent: { lamports_per_byte: 3480, exemption_threshold: 2, burn_percent: 50 },
      },
    ])
  })

  it.each<[string, unknown, unknown, string]>([
    ['no samples', [], sysvar(rentBytes(1n, 1, 0)), 'has no performance samples'],
    ['samples that are no list', { length: 3 }, sysvar(rentBytes(1n, 1, 0)), 'has no performance samples'],
    ['an impossible slot time', [sample(1, 3600)], sysvar(rentBytes(1n, 1, 0)), 'a slot takes 20 to 10000'],
    ['no sysvar', [sample(300)], { context: { slot: 7 }, value: null }, 'is not the Rent sysvar'],
    ['a sysvar of another size', [sample(300)], sysvar(new Uint8Array(18)), 'has 17 bytes, not 18'],
    ['no rent', [sample(300)], sysvar(rentBytes(0n, 1, 50)), 'rent is 1 to 1000000000'],
    ['a threshold that is not a number', [sample(300)], sysvar(rentBytes(9n, Number.NaN, 50)), 'exemption threshold'],
    ['more burnt than there is', [sample(300)], sysvar(rentBytes(9n, 1, 101)), 'burn percent'],
  ])('leaves the cache unchanged for %s', async (_, samples, account, message) => {
    const cache = folder()
    const source = answering({ getRecentPerformanceSamples: samples, getAccountInfo: account })
    const { status, error } = await pullSettings({ folder: cache, source, now })
    expect([status, error]).toEqual(['failed', expect.stringContaining(message)])
    expect((await pullSettings({ folder: folder(), source: folderSource(cache), now })).status).toBe('missing')
  })
})

describe('the consensus of a chain', () => {
  it.each<[string, unknown, string]>([
    ['a certificate', { result: { block: { slot: 9, blockId: [] } } }, 'alpenglow'],
    ['null', { result: null }, 'tower'],
    ['a node before Agave 4.3', { error: { code: -32601, message: 'Method not found' } }, 'tower'],
    ['a provider that does not forward it', { error: { code: -32000, message: 'not allowed' } }, 'alpenglow'],
  ])('is pulled from the answer of a node: %s', async (_, answer, consensus) => {
    const others: Record<string, unknown> = {
      getRecentPerformanceSamples: { result: [sample(300)] },
      getAccountInfo: { result: sysvar(rentBytes(5_080n, 1, 50)) },
      getAgGenesisCert: answer,
    }
    const send: typeof fetch = async (_, init) =>
      Response.json({ jsonrpc: '2.0', id: 1, ...(others[JSON.parse(String(init?.body)).method] as object) })
    const source = rpcSource({ rpcUrl: 'http://cluster', label: 'a cluster' }, { attempts: 1, fetch: send })
    expect((await pullSettings({ folder: folder(), source, now })).settings).toMatchObject({ consensus })
  })

  it('changes from Tower to Alpenglow at a slot, which loses none, and never goes back', async () => {
    const programsDir = folder()
    const test = await openTestChain({ programsDir, consensus: 'tower' })
    const payer = test.wallet()
    test.wall.ms += 60_000
    const landed = test.send([memo('before')], [payer])
    const since = test.chain.slot()
    expect([test.chain.alpenglowSlot(), test.chain.slot('finalized')]).toEqual([null, since - 32])
    test.chain.close()
    const reopened = { programsDir, dataDir: test.dataDir, now: () => test.wall.ms }
    const chain = await openLocalChain({ ...reopened, consensus: 'alpenglow' })
    // The block of the change is final with the first one after it.
    expect([chain.alpenglowSlot(), chain.slot('confirmed'), chain.slot('finalized')]).toEqual([
      since,
      since - 1,
      since - 32,
    ])
    test.wall.ms += chain.slotMs()
    expect([chain.slot('confirmed'), chain.slot('finalized')]).toEqual([since, since])
    expect(chain.transaction(landed.signature)).toEqual(landed)
    chain.close()
    await expect(openLocalChain({ ...reopened, consensus: 'tower' })).rejects.toThrow(
      `The embedded chain in ${test.dataDir} runs Alpenglow since slot ${since} and cannot go back to Tower: leave consensus out, or begin a new chain with \`svc localnet reset\``,
    )
    // A program cache of a cluster on Tower changes nothing about it, and neither does one that names none.
    for (const cached of [{ consensus: 'tower' }, {}]) {
      writeFileSync(join(programsDir, 'cluster.json'), JSON.stringify(cached))
      const kept = await openLocalChain(reopened)
      expect([kept.alpenglowSlot(), kept.status().settings.consensus]).toEqual([since, 'alpenglow'])
      kept.close()
    }
  })

  it('is Tower where the chain is older than this setting, until its cache or its setting says otherwise', async () => {
    const programsDir = folder()
    const dataDir = folder()
    const first = await openLocalChain({ dataDir, programsDir, now: () => START_MS })
    expect(first.status().settings.consensus).toBe('alpenglow')
    first.close()
    const journal = new (loadSqlite())(join(dataDir, 'chain.db'))
    journal.prepare("DELETE FROM settings WHERE name = 'alpenglow-slot'").run()
    journal.close()
    const reopened = { dataDir, programsDir, now: () => START_MS }
    for (const cached of ['{}', '{"consensus":"casper"}']) {
      writeFileSync(join(programsDir, 'cluster.json'), cached)
      const old = await openLocalChain(reopened)
      expect([old.alpenglowSlot(), old.status().warnings.length]).toEqual([null, cached === '{}' ? 0 : 1])
      old.close()
    }
    writeFileSync(join(programsDir, 'cluster.json'), JSON.stringify({ consensus: 'alpenglow' }))
    const migrated = await openLocalChain(reopened)
    expect(migrated.alpenglowSlot()).toBe(migrated.slot())
    migrated.close()
  })
})

describe('a chain with settings', () => {
  it('keeps its settings, takes those of its cache, and loses no history', async () => {
    const programsDir = folder()
    const test = await openTestChain({ programsDir })
    const payer = test.wallet()
    const landed = test.send([memo('before')], [payer])
    expect(test.chain.slotMs()).toBe(DEFAULT_SETTINGS.slotMs)
    test.wall.ms += 60_000
    const before = test.chain.slot()
    const times = [landed.slot, before - 40, before].map((slot) => test.chain.blockTime(slot))
    writeFileSync(join(programsDir, 'cluster.json'), JSON.stringify(settingsJson(OTHER)))
    expect(test.chain.slotMs()).toBe(DEFAULT_SETTINGS.slotMs)
    await test.reopen()
    expect([test.chain.slot(), test.chain.slotMs(), test.chain.minimumBalance(0)]).toEqual([before, 350, 650_240n])
    test.wall.ms += DEFAULT_SETTINGS.slotMs
    expect(test.chain.slot()).toBe(before + 1)
    test.wall.ms += 3 * 350
    expect(test.chain.slot()).toBe(before + 4)
    expect([landed.slot, before - 40, before].map((slot) => test.chain.blockTime(slot))).toEqual(times)
    expect(test.chain.transaction(landed.signature)).toEqual(landed)
    expect(test.send([memo('after')], [payer]).err).toBeNull()
    // Without a cache it goes on with what it has.
    writeFileSync(join(programsDir, 'cluster.json'), '{"slot_ms":"fast"}')
    await test.reopen()
    expect(test.chain.slotMs()).toBe(350)
    expect(test.chain.status().warnings).toEqual([
      `${join(programsDir, 'cluster.json')} was left out: its "slot_ms" must be a number`,
    ])
  })

  it('made before these were settings keeps its slots of 400 ms until its cache has others', async () => {
    const programsDir = folder()
    const dataDir = folder()
    const Database = loadSqlite()
    const first = await openLocalChain({ dataDir, programsDir, now: () => START_MS })
    first.close()
    const journal = new Database(join(dataDir, 'chain.db'))
    const old = JSON.stringify({ genesisMs: START_MS - 4_000, offsetMs: 0, lastMs: START_MS })
    journal.prepare("UPDATE settings SET value = ? WHERE name = 'clock'").run(Buffer.from(old))
    journal.prepare("DELETE FROM settings WHERE name IN ('rent', 'alpenglow-slot')").run()
    journal.close()
    const test = await openTestChain({ dataDir, programsDir })
    const slot = GENESIS_SLOT + 10
    expect([test.chain.slot(), test.chain.slotMs(), test.chain.minimumBalance(0)]).toEqual([
      slot,
      400,
      128n * DEFAULT_SETTINGS.rent.lamportsPerByte,
    ])
    writeFileSync(join(programsDir, 'cluster.json'), JSON.stringify(settingsJson({ ...OTHER, slotMs: 200 })))
    await test.reopen()
    expect([test.chain.slot(), test.chain.slotMs(), test.chain.minimumBalance(0)]).toEqual([slot, 200, 650_240n])
    test.wall.ms += 600
    expect(test.chain.slot()).toBe(slot + 2)
    expect(test.chain.blockTime(GENESIS_SLOT)).toBe(START_MS / 1000 - 4)
  })

  it('passes through every slot and every time once, however often its slot time changes', { tags: 'sampled' }, () => {
    const step = fc.record({
      kind: fc.constantFrom('advance', 'wall', 'back', 'slotMs', 'reopen'),
      amount: fc.integer({ min: 1, max: 5_000 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let wall = START_MS
        let clock = new SlotClock({ genesisMs: wall, offsetMs: 0, lastMs: wall }, () => wall)
        let last = { slot: clock.slot(), ms: clock.ms() }
        const starts = new Map<number, number>()
        for (const { kind, amount } of steps) {
          if (kind === 'advance') clock.advance(amount / 10)
          if (kind === 'wall') wall += amount
          if (kind === 'back') wall -= amount
          if (kind === 'slotMs') clock.setSlotMs(20 + (amount % 700))
          if (kind === 'reopen') clock = new SlotClock(JSON.parse(JSON.stringify(clock.state())), () => wall)
          const here = { slot: clock.slot(), ms: clock.ms() }
          expect(here.slot).toBeGreaterThanOrEqual(last.slot)
          expect(here.ms).toBeGreaterThanOrEqual(last.ms)
          expect(Math.abs(clock.startOf(here.slot) - here.ms / 1000)).toBeLessThan(2)
          // The start of a slot that has begun never changes.
          for (const [slot, start] of starts) expect(clock.startOf(slot)).toBe(start)
          starts.set(here.slot, clock.startOf(here.slot))
          last = here
        }
        expect(clock.startOf(GENESIS_SLOT)).toBe(START_MS / 1000)
      }),
      { numRuns: runs(40, 200) },
    )
  })
})
