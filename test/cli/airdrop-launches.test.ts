/** How a launch goes on with what an earlier run began: what was kept, on which terms, and under which key. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { initializeAirdrop, type LaunchOptions, launchTermsOf } from '../../commands/airdrops/initialize.ts'
import { airdropLaunchVerb, countsOf } from '../../commands/airdrops/launch.ts'
import { type LaunchSending, launchJournal } from '../../commands/airdrops/launch-journal.ts'
import { airdropStatusVerb } from '../../commands/airdrops/status.ts'
import type { Session } from '../../commands/cli/session.ts'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import {
  addressOf,
  airdropsOn,
  createBody,
  DAY_S,
  type Entry,
  entriesFor,
  lacksDistributor,
} from '../support/airdrops.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { clientOf, type Requester } from '../support/request.ts'

const record = { id: 'tree', mint: 'mint', airdrop_count: 1, root: 'ab', total: '5', leaf_count: 1 } as TreeRecord
const how: LaunchOptions = {
  payer: { address: 'payer', tokenAccount: 'account' },
  signed: true,
  keypair: undefined,
  platform_id: 'svc',
  clawback_after_days: undefined,
  vesting: {},
  guard: undefined,
  allow_programs: false,
}

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-kept-'))
  vi.stubEnv('XDG_STATE_HOME', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})
const files = () => readdirSync(join(folder, 'svc/launches')).filter((name) => !name.endsWith('.lock'))

/** A platform wallet behind an API that replays under a key; `fates` are the ends of what is signed, in order. */
function platform(fates: string[]) {
  const byKey = new Map<string, string>()
  const ends = new Map<string, string>()
  const asked: string[] = []
  let landed = false
  let lost = 0
  let now = Date.now()
  const session = {
    cluster: async () => 'embedded',
    unchosenCluster: async () => null,
    settings: { list: async () => [{ name: 'data-dir', value: '/data' }] },
    setInterruptNote: () => undefined,
    clock: {
      now: () => now,
      sleep: async (ms: number) => {
        now += ms
      },
    },
    ui: { waiting: () => undefined },
    client: {
      airdrops: {
        get: async () => ({
          data: {
            ...record,
            status: landed ? 'initialized' : 'tree_built',
            on_chain_root: landed ? 'ab' : null,
            admin: landed ? 'payer' : null,
            clawback_receiver: landed ? 'account' : null,
            distributor: 'there',
            vault: 'vault',
            vault_balance: '5',
            claimed_amount: '0',
          },
        }),
        async create(_: object, { idempotencyKey }: { idempotencyKey: string }) {
          asked.push(idempotencyKey)
          if (!byKey.has(idempotencyKey)) {
            const signature = `sig-${byKey.size}`
            byKey.set(idempotencyKey, signature)
            ends.set(signature, fates.shift() ?? 'confirmed')
          }
          if (lost-- > 0) throw new Error('the process was killed')
          return { data: { mode: 'signed', signature: byKey.get(idempotencyKey) } }
        },
      },
      transactions: {
        async get({ signature }: { signature: string }) {
          const lifecycle = ends.get(signature) ?? 'unknown'
          if (lifecycle === 'confirmed') landed = true
          return { data: { signature, lifecycle, err: lifecycle === 'failed' ? 'BlockhashExpired' : null, slot: 1 } }
        },
      },
    },
  } as unknown as Session
  return {
    session,
    asked,
    ends,
    later: (ms: number) => {
      now += ms
    },
    loseNext: () => {
      lost = 1
    },
  }
}

describe('A launch by the platform wallet', () => {
  it('uses the same idempotency key after an interruption, and removes it at the end', async () => {
    const wallet = platform([])
    wallet.loseNext()
    await expect(initializeAirdrop(wallet.session, how, record)).rejects.toThrow('killed')
    expect(files()).toHaveLength(1)
    const { signature } = await initializeAirdrop(wallet.session, how, record)
    expect(new Set(wallet.asked).size).toBe(1)
    expect(signature).toBe('sig-0')
    expect(files()).toEqual([])
  })

  it('uses another idempotency key once a transaction is proven to have failed, in this run and the next', async () => {
    const wallet = platform(['failed', 'failed', 'failed', 'failed', 'confirmed'])
    await expect(initializeAirdrop(wallet.session, how, record)).rejects.toThrow('was not put on chain in 4 tries')
    expect(new Set(wallet.asked).size).toBe(4)
    expect(await initializeAirdrop(wallet.session, how, record)).toMatchObject({ signature: 'sig-4', missing: 0n })
  })
})

describe('A launch that an earlier run started on other terms', () => {
  const other = { ...launchTermsOf(how, record), clawback_after_days: 365, payer: 'stranger' }
  const begun = async (session: Session, sending: LaunchSending) => {
    const journal = await launchJournal(session, record)
    const release = await journal.begin()
    journal.keep(other, sending)
    release()
    return launchJournal(session, record)
  }

  it('is not sent, and blocks a new launch while it may still be confirmed', async () => {
    const { session, ends } = platform([])
    const signed = { transaction: 'AAAA', signature: 'sig-x' }
    const journal = await begun(session, signed)
    ends.set('sig-x', 'submitted')
    const terms = launchTermsOf(how, record)
    expect(journal.begun(terms)).toBeNull()
    await expect(journal.refuseOtherTerms(session, terms)).rejects.toThrow(
      'on other terms (payer stranger, root ab, clawback after 365',
    )
    expect(files()).toHaveLength(1)
    for (const end of ['failed', 'unknown']) {
      const again = await begun(session, signed)
      ends.set('sig-x', end)
      await again.refuseOtherTerms(session, terms)
      expect(files()).toEqual([])
    }
  })

  it('without an answer is waited for until its blockhash must have expired', async () => {
    const { session, later } = platform([])
    const journal = await begun(session, { key: 'k', at: session.clock.now(), signature: null })
    const terms = launchTermsOf(how, record)
    await expect(journal.refuseOtherTerms(session, terms)).rejects.toThrow('may still be confirmed')
    later(185_000)
    await journal.refuseOtherTerms(session, terms)
    expect(files()).toEqual([])
  })

  it('differs by any of its terms, and its journal has no secret', async () => {
    const { session } = platform([])
    const journal = await launchJournal(session, record)
    const terms = launchTermsOf(how, record)
    const sending = { key: 'k', at: 1, signature: null }
    const release = await journal.begin()
    journal.keep(terms, sending)
    release()
    expect(journal.begun(terms)).toEqual(sending)
    for (const change of [
      { payer: 'x' },
      { root: 'x' },
      { platform_id: 'x' },
      { clawback_after_days: 1 },
      { signed: false },
    ]) {
      expect(journal.begun({ ...terms, ...change }), JSON.stringify(change)).toBeNull()
    }
    const [, kept] = readFileSync(join(folder, 'svc/launches', files()[0]!), 'utf8').split('\n')
    expect(JSON.parse(kept!)).toEqual({ row: 'tree', terms, sending })
  })
})

/** A list on chain as `fund_amount` says, under whose id another list is stored, and the launch of it on a cluster where a mistake costs something. */
async function misplaced(fund_amount = '1000') {
  const all = await airdropsOn(await startPlatform())
  const payer = all.wallet()
  const mint = all.mintFor(payer, 10_000n)
  const list = entriesFor([all.wallet()])
  const file = join(folder, 'list.csv')
  writeFileSync(file, list.map(({ wallet, amount }: Entry) => `${wallet},${amount}\n`).join(''))
  const run = async (more: object = {}, request: Requester = all.request) => {
    const said: string[] = []
    const say = (text: string) => void said.push(text)
    const session = {
      client: clientOf(request),
      wallet: { address: async () => addressOf(payer) },
      cluster: async () => 'mainnet-beta',
      unchosenCluster: async () => null,
      caller: async () => ({ api: 'https://api.example', key: 'none' }),
      clock: { now: Date.now, sleep: async () => undefined },
      settings: { list: async () => [{ name: 'data-dir', value: all.dataDir }] },
      setInterruptNote: () => undefined,
      ui: {
        interactive: false,
        confirmable: false,
        note: say,
        warn: say,
        preview: async (lines: string[]) => say(lines.join('\n')),
        progress: () => () => undefined,
        clear: () => undefined,
      },
    } as unknown as Session
    const input = { file, mint, raw: true, again: false, signed: false, dry_run: false, replace: false, ...more }
    const { data, notes, exitCode } = await airdropLaunchVerb.run(input as never, session)
    const [row] = data as { id: string; root: string; funded: boolean; missing: string }[]
    return { row: row!, said: [...said, ...(notes ?? [])].join('\n'), exitCode }
  }
  const { row } = await run({ dry_run: true })
  await all.submit(await all.ok('POST', '/v2/airdrops', createBody(payer, mint, row.root, { fund_amount })), payer)
  const other = await all.storeTree(mint, entriesFor([all.wallet(), all.wallet()]))
  expect(other.root).not.toBe(row.root)
  return { ...all, run, root: row.root, path: `/v2/airdrops/${row.id}` }
}

describe.skipIf(lacksDistributor)(
  'A launch of an airdrop on chain whose id has another stored list (needs the Jito merkle distributor)',
  () => {
    it('finds its vault full, and stores the tree without a question, because nothing is signed', async () => {
      const { run, ok, request, path, root } = await misplaced()
      const plan = await run({ replace: true, dry_run: true })
      expect(plan.row).toMatchObject({ funded: true, missing: '0' })
      expect(plan.said).toMatch(/: store; on chain already$/m)
      expect(plan.said).not.toMatch(/lacks|another airdrop_count/)
      await expect(run()).rejects.toThrow('is another list')
      expect(await ok('GET', path)).toMatchObject({ status: 'tree_built', on_chain_root: root, vault_balance: '1000' })
      const shown = await airdropStatusVerb.run({ id: plan.row.id } as never, { client: clientOf(request) } as Session)
      expect(shown.text).toMatch(/^IN THE VAULT +0\.001$/m)
      expect(shown.text).not.toContain('%')

      const done = await run({ replace: true })
      expect(done).toMatchObject({ row: { funded: true, missing: '0' }, exitCode: undefined })
      expect(done.said).not.toMatch(/lacks|another airdrop_count/)
      expect(done.said).toContain(`Claim page: https://api.example/claim/${done.row.id}/`)
      expect(await ok('GET', path)).toMatchObject({ status: 'initialized', root, vault_balance: '1000', note: null })
    })

    it('says exactly what its vault lacks', async () => {
      const { run } = await misplaced('900')
      const plan = await run({ replace: true, dry_run: true })
      expect(plan).toMatchObject({
        row: { funded: false, missing: '100' },
        said: expect.stringContaining('lacks 0.0001'),
      })
      expect(await run({ replace: true })).toMatchObject({ row: { funded: false, missing: '100' }, exitCode: 1 })
    })

    it('finds its vault withdrawn: it is not funded, but lacks nothing', async () => {
      const { run, ok, pass, path } = await misplaced()
      pass(31 * DAY_S)
      await ok('POST', `${path}/vault-withdrawals`, { amount: '1000' })
      const plan = await run({ replace: true, dry_run: true })
      expect(plan.row).toMatchObject({ funded: false, missing: '0' })
      expect(plan.said).toMatch(/: store; on chain already; its vault was withdrawn$/m)
      for (const more of [{ replace: true }, {}]) {
        const done = await run(more)
        expect(done).toMatchObject({ row: { funded: false, missing: '0' }, exitCode: undefined })
        expect(done.said).toContain('Airdrop 0: The vault was withdrawn after the clawback time')
      }
    })

    it('says that the tree is stored if the node fails afterwards', async () => {
      const { run, request, services, ok, path, root } = await misplaced()
      const { call } = services.chain
      const failing: Requester = async (method, at, ask) => {
        const answer = await request(method, at, ask)
        if (method === 'POST' && at === '/v2/merkle-trees') {
          services.chain.call = () => Promise.reject(new Error('the node is gone'))
        }
        return answer
      }
      await expect(run({ replace: true }, failing)).rejects.toMatchObject({
        message: expect.stringMatching(
          /^the tree of \S+ is stored, but its distributor cannot be read from the chain now$/,
        ),
        next: 'run the same command again',
      })
      services.chain.call = call
      expect(await ok('GET', path)).toMatchObject({ status: 'initialized', root })
      expect(await run()).toMatchObject({ row: { funded: true }, exitCode: undefined })
    })

    it('asks before it sends anything', async () => {
      const { run, ok } = await misplaced()
      const before = await ok('GET', '/v2/merkle-trees')
      await expect(run({ airdrop_count: 1, again: true })).rejects.toThrow('this would be sent to mainnet-beta')
      expect(await ok('GET', '/v2/merkle-trees')).toEqual(before)
    })
  },
)

describe('Airdrop counts', () => {
  it('are consecutive, or as given with --counts', () => {
    expect(countsOf({ airdrop_count: undefined, counts: undefined }, 3)).toEqual([0, 1, 2])
    expect(countsOf({ airdrop_count: 40, counts: undefined }, 2)).toEqual([40, 41])
    expect(countsOf({ airdrop_count: undefined, counts: ['40', '7'] }, 2)).toEqual([40, 7])
    expect(() => countsOf({ airdrop_count: 65_535, counts: undefined }, 2)).toThrow('go past 65535')
    expect(() => countsOf({ airdrop_count: undefined, counts: ['7', '07'] }, 2)).toThrow('must not have a number twice')
  })
})
