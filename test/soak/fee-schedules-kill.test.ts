/** A schedule under 20 kills and a moved clock: each period has one run, and each claim of a run at most one signature. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type ChainProcess, startChain } from '../support/chain-process.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { addressOf, IMAGE, keypairOf, lackingPrograms, RICH, signWith } from '../support/pool-platform.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { randomOf } from '../support/random.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { startVault, type VaultServer } from '../support/vault-server.ts'
import { leapingClock } from './leaping-clock.ts'
import { startTrappingProxy, type Trap, type TrappingProxy } from './trapping-proxy.ts'

/** SOAK_SEED=n kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 11)
const { next: random, pick, below } = randomOf(SEED)
const POOLS = 3
const MINUTE_MS = 60_000
const SOL = 1_000_000_000
const PATIENCE_MS = 15_000
/** Half a minute in two seconds: a period every four. */
const LEAPS = { everyMs: 2_000, leapMs: 30_000 }
/** Where the clock of a daemon begins: right, ahead, and behind what another has seen. */
const OFFSETS = [0, 0, 3 * 24 * 60, 10, -45, 60].map((minutes) => minutes * MINUTE_MS)

const PRESETS = {
  wide: {
    total_supply: '1000000000',
    decimals: 6,
    initial_market_cap: 30,
    migration_market_cap: 400,
    fee: { starting_bps: 100, ending_bps: 100 },
    liquidity: { partner: 50, partner_locked: 50 },
  },
}

type KillPoint = { of: 'vault' | 'node'; trap: Trap } | number

/** Around the provider's signature, around the sending, and at moments of no kind: twenty. */
function pointsOfDeath(sign: string): KillPoint[] {
  const nth = () => 1 + below(POOLS)
  const vault = (when: Trap['when'], afterMs?: number): KillPoint => ({
    of: 'vault',
    trap: { method: sign, when, nth: nth(), ...(afterMs === undefined ? {} : { afterMs }) },
  })
  const node = (method: string, when: Trap['when']): KillPoint => ({ of: 'node', trap: { method, when, nth: nth() } })
  return [
    vault('asked'),
    ...Array.from({ length: 3 }, () => vault('answered')),
    ...Array.from({ length: 4 }, () => vault('delivered', random() * 8)),
    ...Array.from({ length: 2 }, () => node('sendTransaction', 'asked')),
    ...Array.from({ length: 3 }, () => node('sendTransaction', 'answered')),
    node('simulateTransaction', 'answered'),
    ...Array.from({ length: 6 }, () => random() * 5_000),
  ].sort(() => random() - 0.5)
}

interface RunRow {
  id: string
  schedule_id: string
  scheduled_at: number | null
  status: string
  missed: number
  claimed: number
}

describe.skipIf(lackingPrograms.length > 0)(`a schedule under 20 kills and a moved clock, SOAK_SEED=${SEED}`, () => {
  const folders = [makeSharedFolder('svc-'), makeSharedFolder('svc-')] as const
  const [creator, trader] = [Keypair.generate(), Keypair.generate()]
  const pools: string[] = []
  let chainProcess: ChainProcess
  let chain: Connection
  let vault: VaultServer
  let proxies: { vault: TrappingProxy; node: TrappingProxy }
  let daemon: Daemon
  let schedule: string
  let [kills, missedTraps] = [0, 0]

  const start = (clock: string | undefined) =>
    startDaemon({
      dataDir: folders[0],
      flags: ['-u', proxies.node.url],
      env: {
        SVC_SIGNER: 'vault',
        SVC_SIGNER_VAULT_URL: proxies.vault.url,
        SVC_SIGNER_VAULT_KEY: vault.keyName,
        SVC_SIGNER_VAULT_TOKEN: vault.token,
        SVC_SIGNER_PUBLIC_KEY: vault.key.address,
        SVC_PRIORITY_FEE: 'none',
        SVC_PUBLIC_URL: 'https://svc.example.com',
        SVC_POOLS_PRESETS: join(folders[0], 'presets.json'),
        SVC_POOLS_PRESET: 'wide',
        ...(clock === undefined ? {} : { NODE_OPTIONS: clock }),
      },
    })

  async function land(transaction: string): Promise<void> {
    const signature = await chain.sendRawTransaction(Buffer.from(transaction, 'base64'))
    await vi.waitFor(
      async () => expect((await chain.getSignatureStatus(signature)).value).toMatchObject({ err: null }),
      PATIENCE_MS,
    )
  }

  async function launch(symbol: string): Promise<void> {
    const body = { creator: addressOf(creator), name: 'A token', symbol, image: IMAGE }
    const { json, status, text } = await daemon.request('POST', '/v2/pools', { body })
    expect(status, text).toBe(201)
    const { pool, transactions, required_signers } = json.data
    const keys = [required_signers.base_mint_secret_key, required_signers.config_secret_key].map(keypairOf)
    for (const transaction of transactions) await land(signWith(transaction, [creator, ...keys]))
    await vi.waitFor(async () => {
      expect((await daemon.request('GET', `/v2/pools/${pool.address}`)).json.data.status).toBe('live')
    }, 30_000)
    pools.push(pool.address)
  }

  /** Something to claim from every pool. */
  async function trade(): Promise<void> {
    for (const pool of pools) {
      const body = { payer: addressOf(trader), side: 'buy', amount: String(SOL / 20 + below(1_000)) }
      const { json, text } = await daemon.request('POST', `/v2/pools/${pool}/swaps`, { body })
      expect(json.data?.tx, text).toBeDefined()
      await land(signWith(json.data.tx.transaction, [trader]))
    }
  }

  async function killAt(point: KillPoint): Promise<void> {
    const gone = new Promise<void>((settle) => daemon.process.once('exit', () => settle()))
    const strike = () => void daemon.process.kill('SIGKILL')
    if (typeof point === 'number') {
      await trade()
      await delay(point)
      strike()
      return gone
    }
    await trade()
    proxies[point.of].arm(point.trap, strike)
    const late = setTimeout(() => {
      missedTraps++
      strike()
    }, PATIENCE_MS)
    await gone
    clearTimeout(late)
    proxies[point.of].disarm()
  }

  const rows = <T>(query: string): T[] => {
    const database = new Database(join(folders[0], 'svc.db'), { readonly: true })
    try {
      return database.prepare(query).all() as T[]
    } finally {
      database.close()
    }
  }

  beforeAll(async () => {
    writeFileSync(join(folders[0], 'presets.json'), JSON.stringify(PRESETS))
    chainProcess = await startChain(folders[1], { SVC_PROGRAMS_DIR: PROGRAMS_DIR })
    chain = new Connection(chainProcess.url, 'confirmed')
    vault = await startVault()
    proxies = { vault: await startTrappingProxy(vault.url), node: await startTrappingProxy(chainProcess.url) }
    for (const key of [creator.publicKey, trader.publicKey, new PublicKey(vault.key.address)]) {
      await chain.requestAirdrop(key, 100 * SOL)
    }
    daemon = await start(undefined)
    const { lamports_per_transaction, lamports_per_day } = RICH
    const limits = { lamports_per_transaction, lamports_per_day }
    expect((await daemon.request('PATCH', '/v2/signer/policy', { body: limits })).status).toBe(200)
    for (let i = 0; i < POOLS; i++) await launch(`KILL${i}`)
    const made = await daemon.request('POST', '/v2/fee-schedules', { body: { cron: '* * * * *' } })
    expect(made.status, made.text).toBe(201)
    schedule = made.json.data.id
    for (const point of pointsOfDeath(`POST /v1/transit/sign/${vault.keyName}`)) {
      await daemon.stop('SIGKILL')
      daemon = await start(leapingClock({ ...LEAPS, offsetMs: pick(OFFSETS) }))
      await killAt(point)
      kills++
    }
    daemon = await start(leapingClock(LEAPS))
    await trade()
    // The last ones come to their end, and no other begins.
    const done = "select * from fee_schedule_runs where status = 'done' and claimed > 0"
    await vi.waitFor(() => expect(rows<RunRow>(done).length).toBeGreaterThan(0), 60_000)
    await delay(10_000)
    const pause = { body: { active: false } }
    expect((await daemon.request('PATCH', `/v2/fee-schedules/${schedule}`, pause)).status).toBe(200)
    await delay(2_000)
  }, 600_000)
  afterAll(async () => {
    await daemon?.stop()
    await Promise.all(Object.values(proxies ?? {}).map((proxy) => proxy.close()))
    await vault?.close()
    await chainProcess?.stop()
    for (const folder of folders) removeFolder(folder)
  })

  it('was killed twenty times, mostly in the midst of a claim, and claimed all the same', () => {
    const claims = rows<{ state: string }>('select state from fee_schedule_claims')
    const runs = rows<RunRow>('select * from fee_schedule_runs')
    process.stdout.write(
      `  ${kills} kills, ${missedTraps} traps not walked into: ${runs.length} runs (${runs.filter(({ missed }) => missed > 0).length} after missed periods), ${claims.length} claims\n`,
    )
    expect(kills).toBe(20)
    expect(missedTraps).toBeLessThanOrEqual(4)
    expect(runs.length).toBeGreaterThan(10)
    expect(claims.filter(({ state }) => state === 'signed').length).toBeGreaterThan(20)
    expect(runs.some(({ missed }) => missed > 0)).toBe(true)
  })

  it('had exactly one run for each period, which ended with the claims that were signed', async () => {
    const runs = rows<RunRow>('select * from fee_schedule_runs')
    expect(new Set(runs.map(({ scheduled_at }) => scheduled_at)).size).toBe(runs.length)
    expect(runs.every(({ scheduled_at }) => scheduled_at !== null && scheduled_at % MINUTE_MS === 0)).toBe(true)
    expect(runs.filter(({ status }) => status === 'running')).toEqual([])
    const signed = rows<{ signature: string }>("select signature from fee_schedule_claims where state = 'signed'")
    expect(new Set(signed.map(({ signature }) => signature)).size).toBe(signed.length)
    expect(runs.reduce((sum, { claimed }) => sum + claimed, 0)).toBe(signed.length)
  })

  it('made at most one signature for each claim of a run, and none that it does not know', async () => {
    const signings = rows<{ id: string; signature: string | null; transaction: Buffer; message_sha256: string }>(
      "select * from signings where operation = 'fee_claim.create' and state != 'abandoned'",
    )
    const claims = rows<{ signing_id: string; signature: string | null }>(
      'select signing_id, signature from fee_schedule_claims where signing_id is not null',
    )
    expect(signings.map(({ id }) => id).toSorted()).toEqual(claims.map(({ signing_id }) => signing_id).toSorted())
    const asked = vault.requests.flatMap(({ body }) =>
      body === ''
        ? []
        : [
            createHash('sha256')
              .update(Buffer.from(JSON.parse(body).input, 'base64'))
              .digest('hex'),
          ],
    )
    const known = new Set(signings.map(({ message_sha256 }) => message_sha256))
    const made = new Set(asked.filter((hash) => vault.signatures.has(hash)))
    expect([...made].filter((hash) => !known.has(hash))).toEqual([])
    const landed = await chain.getSignaturesForAddress(new PublicKey(vault.key.address), { limit: 1_000 })
    const ours = new Set(claims.flatMap(({ signature }) => (signature === null ? [] : [signature])))
    const claimed = landed.filter(({ signature, err }) => err === null && ours.has(signature))
    expect(claimed.length).toBeGreaterThan(20)
    expect((await daemon.request('GET', '/v2/audit-verification')).json.data.intact).toBe(true)
  })
})
