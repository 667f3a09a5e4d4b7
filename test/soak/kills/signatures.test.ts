/** Daemons that are killed around the signatures of the platform wallet: requests, sponsored claims, and claims of a schedule. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import Database from 'better-sqlite3'
import { expect, vi } from 'vitest'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { addressOf, createBody, entriesFor } from '../../support/airdrops.ts'
import { CURVE } from '../../support/launches.ts'
import { FEE } from '../../support/platform-wallet.ts'
import { IMAGE, lackingPrograms, RICH } from '../../support/pool-platform.ts'
import { hasProgram } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import { SPONSORED_COST } from '../../support/sponsored-airdrop.ts'
import { keypairOf, signWith } from '../../support/wallets.ts'
import { leapingClock } from '../leaping-clock.ts'
import { allPages, killTest, momentsOf, requestsOf, seedOr } from './harness.ts'
import {
  killAmidWave,
  openSigningPlatform,
  type PlatformPoint,
  type SigningPlatform,
  signedBy,
  trapsOf,
} from './platform.ts'

const SOL = 1_000_000_000
/** How long a trap waits for its call; what was built may still be sent afterwards. */
const PATIENCE_MS = 15_000
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

async function change(platform: SigningPlatform, method: string, path: string, body: object) {
  const { status, text, json } = await platform.daemon.request(method, path, { body })
  expect([path, status < 300], text).toEqual([path, true])
  return json.data
}

/** The n-th request signs a memo of its own; every fourth that is cut off is given up. */
async function signingRequests() {
  const { next: random, below } = randomOf(seedOr(7))
  const writers = 6
  const platform = await openSigningPlatform()
  const requests = requestsOf<number>({
    send: (n) =>
      platform.daemon.request('POST', '/v2/signer/tests', {
        body: { submit: true, memo: `request ${n}.` },
        headers: { 'idempotency-key': `signing-${n}` },
      }),
    check: (n, { status, text }) => expect([n, status], text).toEqual([n, 200]),
    isGivenUp: (n) => n % 4 === 0,
  })
  await platform.chain.requestAirdrop(new PublicKey(platform.vault.key.address), SOL)
  await platform.start()
  const limits = { lamports_per_transaction: '1000000', lamports_per_day: '1000000000' }
  await change(platform, 'PATCH', '/v2/signer/policy', limits)
  const { vault, node } = trapsOf(platform, () => 1 + below(writers))
  let count = 0
  return {
    platform,
    requests,
    count: () => count,
    wave: () => times(writers, () => requests.ask(count++)),
    signatures: () => [...requests.done.values()].map(({ json }) => json.data.signature as string),
    /** The messages of a request that the vault has signed. */
    signedFor(n: number): string[] {
      const inputs = platform.inputs().filter((input) => input.includes(`request ${n}.`))
      return [...new Set(inputs.map(sha256))].filter((hash) => platform.vault.signatures.has(hash))
    },
    points: [
      vault('asked'),
      ...times(2, () => vault('answered')),
      ...momentsOf(2, random).map((moment) => vault('delivered', moment * 6)),
      node('simulateTransaction', 'answered'),
      node('sendTransaction', 'asked'),
      node('sendTransaction', 'answered'),
      ...momentsOf(3, random).map((moment) => moment * 400),
    ] as PlatformPoint[],
  }
}

killTest({
  title: `requests that sign, to a daemon that is killed around the signature (SOAK_SEED=${seedOr(7)}):`,
  start: signingRequests,
  points: ({ points }) => points,
  kill: (world, point) => killAmidWave(world, point, 60_000),
  end: ({ platform }) => platform.end(),
  holds: {
    'some requests are cut off before the signature and some after it'({ platform, requests, count, points }) {
      const { done, abandoned, again } = requests
      process.stdout.write(
        `  ${points.length} kills: ${done.size} answered, ${abandoned.length} abandoned, ${again.resumed} resumed, ${again.replayed} replayed\n`,
      )
      expect(platform.missed.length).toBeLessThanOrEqual(1)
      expect(done.size + abandoned.length).toBe(count())
      expect(again.resumed).toBeGreaterThan(10)
      expect(abandoned.length).toBeGreaterThan(0)
    },
    'each request has at most one signature, and answers with that one'({ requests, signedFor, signatures }) {
      for (const n of requests.done.keys()) expect([n, signedFor(n).length]).toEqual([n, 1])
      for (const n of requests.abandoned) expect([n, signedFor(n).length <= 1]).toEqual([n, true])
      expect(new Set(signatures()).size).toBe(requests.done.size)
    },
    async 'the chain has each answered transaction once, and the daemon knows all of them'({ platform, signatures }) {
      const { chain, vault, daemon } = platform
      const known = new Set(signatures())
      const landed = await chain.getSignaturesForAddress(new PublicKey(vault.key.address), { limit: 1000 })
      const absent = async () => {
        const { value } = await chain.getSignatureStatuses([...known], { searchTransactionHistory: true })
        return value.filter((status) => status === null)
      }
      await expect.poll(absent, { timeout: 30_000 }).toEqual([])
      for (const { signature, err, memo } of landed) {
        if (memo === null || known.has(signature)) continue
        // Abandoned after it was stored: the watcher sent it all the same, as it must.
        expect(err).toBeNull()
        expect((await daemon.request('GET', `/v2/transactions/${signature}`)).json.data.lifecycle).not.toBe('unknown')
      }
    },
    async 'the daily limit counts each signature, and nothing else'({ platform, requests, signedFor }) {
      const { done, abandoned } = requests
      const signed = [...done.keys(), ...abandoned].filter((n) => signedFor(n).length === 1).length
      const { spent } = (await platform.daemon.request('GET', '/v2/signer')).json.data
      const counted = BigInt(spent.lamports) / FEE
      // What was abandoned between the intent and the signature stays counted: it may have been signed.
      expect(counted).toBeGreaterThanOrEqual(BigInt(signed))
      expect(counted).toBeLessThanOrEqual(BigInt(done.size + abandoned.length))
    },
    async 'the audit log has no gap and each answered signature once'({ platform, signatures }) {
      const { request } = platform.daemon
      expect((await request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
      const entries = await allPages(request, '/v2/audit-entries?action=signing.signed&')
      const logged = entries.map(({ details }) => details.signature)
      expect(new Set(logged).size).toBe(logged.length)
      expect(signatures().filter((signature) => !logged.includes(signature))).toEqual([])
    },
  },
})

/** A claim is built, signed by its wallet and submitted; one that is built is only submitted again. */
async function sponsoredClaims() {
  const { next: random, below } = randomOf(seedOr(3))
  const writers = 4
  const platform = await openSigningPlatform()
  const { chain, vault: wallet } = platform
  const trap = trapsOf(platform, () => 1 + below(writers))
  const points: PlatformPoint[] = [
    trap.vault('asked'),
    trap.vault('answered'),
    ...momentsOf(2, random).map((moment) => trap.vault('delivered', moment * 6)),
    trap.node('sendTransaction', 'asked'),
    trap.node('sendTransaction', 'answered'),
    trap.node('getEpochInfo', 'answered'),
    ...momentsOf(2, random).map((moment) => moment * 300),
  ]
  const claimers = times(points.length * writers, () => Keypair.generate())
  const [maker, mintKey] = [Keypair.generate(), Keypair.generate()]
  const mint = addressOf(mintKey)
  const lamportsOfPlatform = () => chain.getBalance(new PublicKey(wallet.key.address), 'confirmed')

  await platform.start()
  for (const key of [maker.publicKey, new PublicKey(wallet.key.address)]) await chain.requestAirdrop(key, 5 * SOL)
  const account = spl.getAssociatedTokenAddressSync(mintKey.publicKey, maker.publicKey)
  const making = new Transaction().add(
    SystemProgram.createAccount({
      fromPubkey: maker.publicKey,
      newAccountPubkey: mintKey.publicKey,
      space: spl.MINT_SIZE,
      lamports: await spl.getMinimumBalanceForRentExemptMint(chain),
      programId: spl.TOKEN_PROGRAM_ID,
    }),
    spl.createInitializeMint2Instruction(mintKey.publicKey, 6, maker.publicKey, null),
    spl.createAssociatedTokenAccountInstruction(maker.publicKey, account, maker.publicKey, mintKey.publicKey),
    spl.createMintToInstruction(mintKey.publicKey, account, maker.publicKey, 10n ** 12n),
  )
  await sendAndConfirmTransaction(chain, making, [maker, mintKey])
  const list = { mint, airdrop_count: 0, entries: entriesFor(claimers) }
  const { id, root } = await change(platform, 'POST', '/v2/merkle-trees', list)
  const built = await change(platform, 'POST', '/v2/airdrops', createBody(maker, mint, root))
  const transaction = signedBy(built.transaction, maker)
  const { signature } = await change(platform, 'POST', '/v2/transactions', { transaction })
  const latest = { signature, ...(await chain.getLatestBlockhash()) }
  expect((await chain.confirmTransaction(latest, 'confirmed')).value.err).toBeNull()
  const limits = { lamports_per_transaction: '10000000', lamports_per_day: '10000000000' }
  await change(platform, 'PATCH', '/v2/signer/policy', limits)
  const budget = String(SPONSORED_COST * BigInt(claimers.length))
  await change(platform, 'PATCH', `/v2/airdrops/${id}/sponsorship`, { budget })
  const before = await lamportsOfPlatform()

  const kept = new Map<number, { path: string; transaction: string }>()
  const requests = requestsOf<number>({
    async send(n) {
      const key = claimers[n]!
      if (!kept.has(n)) {
        const body = { claimer: addressOf(key) }
        const path = `/v2/airdrops/${id}/sponsored-claims`
        const answer = await platform.daemon.request('POST', path, { body })
        expect([n, answer.status], answer.text).toEqual([n, 200])
        const claim = answer.json.data
        kept.set(n, { path: `${path}/${claim.id}/submissions`, transaction: signedBy(claim.transaction, key) })
      }
      const claim = kept.get(n)!
      return platform.daemon.request('POST', claim.path, { body: { transaction: claim.transaction } })
    },
    check: (n, { status, text }) => expect([n, status], text).toEqual([n, 200]),
    isGivenUp: (n) => n % 5 === 0,
  })
  let count = 0
  return {
    platform,
    points,
    claimers,
    requests,
    wave: () => times(writers, () => requests.ask(count++)),
    spent: async () => BigInt(before - (await lamportsOfPlatform())),
    sponsorship: async () => (await platform.daemon.request('GET', `/v2/airdrops/${id}/sponsorship`)).json.data,
    /** The distinct messages with this wallet's claim that the vault was asked to sign. */
    messagesOf: (key: Keypair) =>
      new Set(
        platform
          .inputs()
          .filter((input) => input.includes(key.publicKey.toBuffer()))
          .map(sha256),
      ),
    /** What each wallet holds of the token; null without an account. */
    async paid(): Promise<(bigint | null)[]> {
      const accounts = claimers.map((key) => spl.getAssociatedTokenAddressSync(mintKey.publicKey, key.publicKey))
      const found = await chain.getMultipleAccountsInfo(accounts, 'confirmed')
      return found.map((each) => (each === null ? null : each.data.readBigUInt64LE(64)))
    },
  }
}

killTest({
  title: `sponsored claims from a daemon that is killed around the signature (SOAK_SEED=${seedOr(3)}):`,
  skip: !hasProgram(PROGRAMS.distributor.id),
  start: sponsoredClaims,
  points: ({ points }) => points,
  kill: (world, point) => killAmidWave(world, point, PATIENCE_MS),
  end: ({ platform }) => platform.end(),
  holds: {
    'some are resumed, some abandoned, and each answered claim has one signature'(world) {
      const { done, abandoned, again } = world.requests
      process.stdout.write(`  ${done.size} answered, ${abandoned.length} abandoned, ${again.resumed} resumed\n`)
      expect(world.platform.missed.length).toBeLessThanOrEqual(1)
      expect(done.size + abandoned.length).toBe(world.claimers.length)
      expect([again.resumed > 4, abandoned.length > 0]).toEqual([true, true])
      expect(new Set([...done.values()].map(({ json }) => json.data.signature)).size).toBe(done.size)
      for (const n of done.keys()) expect([n, world.messagesOf(world.claimers[n]!).size]).toEqual([n, 1])
      for (const n of abandoned) expect([n, world.messagesOf(world.claimers[n]!).size <= 1]).toEqual([n, true])
    },
    async 'each wallet has its tokens and no lamports, and the budget counts fee and rent of each'(world) {
      const { requests, claimers, platform, paid } = world
      const unpaid = async () => {
        const tokens = await paid()
        return [...requests.done.keys()].filter((n) => tokens[n] === null)
      }
      await expect.poll(unpaid, { timeout: 60_000 }).toEqual([])
      const tokens = await paid()
      for (const [n, held] of tokens.entries()) {
        if (held !== null) expect([n, held]).toEqual([n, BigInt(n + 1) * 1_000n])
      }
      const wallets = await platform.chain.getMultipleAccountsInfo(
        claimers.map((key) => key.publicKey),
        'confirmed',
      )
      expect(wallets.every((account) => account === null || account.lamports === 0)).toBe(true)
      const landed = tokens.filter((held) => held !== null).length
      expect(await world.spent()).toBe(SPONSORED_COST * BigInt(landed))
      const { used, pending, landed: settled } = await world.sponsorship()
      // What was abandoned before its signature was stored is counted until it can land no more.
      expect(BigInt(used)).toBe(SPONSORED_COST * BigInt(pending + settled))
      expect(pending + settled).toBeGreaterThanOrEqual(landed)
      expect(pending + settled).toBeLessThanOrEqual(requests.done.size + requests.abandoned.length)
    },
  },
})

const MINUTE_MS = 60_000
const POOLS = 3
/** Half a minute in two seconds: a period every four seconds. */
const LEAPS = { everyMs: 2_000, leapMs: 30_000 }
/** Where the clock of a daemon begins: right, ahead, and behind what another has seen. */
const OFFSETS = [0, 0, 3 * 24 * 60, 10, -45, 60].map((minutes) => minutes * MINUTE_MS)
const PRESETS = {
  wide: CURVE,
}

interface RunRow {
  id: string
  schedule_id: string
  scheduled_at: number | null
  status: string
  missed: number
  claimed: number
}

/** A schedule of every minute over pools that are traded, and a clock that leaps. */
async function feeSchedule() {
  const { next: random, pick, below } = randomOf(seedOr(11))
  const [creator, trader] = [Keypair.generate(), Keypair.generate()]
  const presets = { SVC_PUBLIC_URL: 'https://svc.example.com', SVC_POOLS_PRESET: 'wide' }
  const platform = await openSigningPlatform(presets)
  const { chain, dataDir, vault: wallet } = platform
  const file = join(dataDir, 'presets.json')
  writeFileSync(file, JSON.stringify(PRESETS))
  const start = (clock?: string) =>
    platform.start({ SVC_POOLS_PRESETS: file, ...(clock === undefined ? {} : { NODE_OPTIONS: clock }) })
  for (const key of [creator.publicKey, trader.publicKey, new PublicKey(wallet.key.address)]) {
    await chain.requestAirdrop(key, 100 * SOL)
  }
  const land = async (transaction: string) => {
    const signature = await chain.sendRawTransaction(Buffer.from(transaction, 'base64'))
    const status = async () => (await chain.getSignatureStatus(signature)).value
    await vi.waitFor(async () => expect(await status()).toMatchObject({ err: null }), PATIENCE_MS)
  }
  const pools: string[] = []
  const launch = async (symbol: string) => {
    const body = { creator: addressOf(creator), name: 'A token', symbol, image: IMAGE }
    const { pool, transactions, required_signers } = await change(platform, 'POST', '/v2/pools', body)
    const keys = [required_signers.base_mint_secret_key, required_signers.config_secret_key].map(keypairOf)
    for (const transaction of transactions) await land(signWith(transaction, [creator, ...keys]))
    const status = async () =>
      (await platform.daemon.request('GET', `/v2/pools/${pool.address}`)).json.data.status as string
    await vi.waitFor(async () => expect(await status()).toBe('live'), 30_000)
    pools.push(pool.address)
  }
  await start()
  await change(platform, 'PATCH', '/v2/signer/policy', {
    lamports_per_transaction: RICH.lamports_per_transaction,
    lamports_per_day: RICH.lamports_per_day,
  })
  for (let i = 0; i < POOLS; i++) await launch(`KILL${i}`)
  const { id } = await change(platform, 'POST', '/v2/fee-schedules', { cron: '* * * * *' })
  const trap = trapsOf(platform, () => 1 + below(POOLS))
  const points: PlatformPoint[] = [
    trap.vault('asked'),
    ...times(2, () => trap.vault('answered')),
    ...momentsOf(2, random).map((moment) => trap.vault('delivered', moment * 8)),
    trap.node('sendTransaction', 'asked'),
    ...times(2, () => trap.node('sendTransaction', 'answered')),
    trap.node('simulateTransaction', 'answered'),
    ...momentsOf(2, random).map((moment) => moment * 5_000),
  ]
  return {
    platform,
    points: points.sort(() => random() - 0.5),
    schedule: id as string,
    startLeaping: (offsetMs?: number) =>
      start(leapingClock({ ...LEAPS, ...(offsetMs === undefined ? {} : { offsetMs }) })),
    offset: () => pick(OFFSETS),
    /** Something to claim from every pool. */
    async trade() {
      for (const pool of pools) {
        const body = { payer: addressOf(trader), side: 'buy', amount: String(SOL / 20 + below(1_000)) }
        const { tx } = await change(platform, 'POST', `/v2/pools/${pool}/swaps`, body)
        await land(signWith(tx.transaction, [trader]))
      }
    },
    rows<T>(query: string): T[] {
      const database = new Database(join(dataDir, 'svc.db'), { readonly: true })
      try {
        return database.prepare(query).all() as T[]
      } finally {
        database.close()
      }
    },
  }
}

killTest({
  title: `a fee schedule of a daemon that is killed around its claims, with a moved clock (SOAK_SEED=${seedOr(11)}):`,
  skip: lackingPrograms.length > 0,
  start: feeSchedule,
  points: ({ points }) => points,
  async kill({ platform, startLeaping, offset, trade }, point) {
    await platform.daemon.stop('SIGKILL')
    await startLeaping(offset())
    await trade()
    await platform.killAt(point, PATIENCE_MS)
  },
  async settle({ platform, startLeaping, trade, rows, schedule }) {
    await startLeaping()
    await trade()
    const done = "select * from fee_schedule_runs where status = 'done' and claimed > 0"
    await vi.waitFor(() => expect(rows<RunRow>(done).length).toBeGreaterThan(0), 60_000)
    await change(platform, 'PATCH', `/v2/fee-schedules/${schedule}`, { active: false })
    // Runs under way come to their end, and no other begins.
    const running = "select * from fee_schedule_runs where status = 'running'"
    await vi.waitFor(() => expect(rows<RunRow>(running)).toEqual([]), { timeout: 60_000, interval: 200 })
  },
  end: ({ platform }) => platform.end(),
  holds: {
    'most of the kills come amid a claim, and fees are claimed all the same'({ platform, points, rows }) {
      const claims = rows<{ state: string }>('select state from fee_schedule_claims')
      const runs = rows<RunRow>('select * from fee_schedule_runs')
      process.stdout.write(
        `  ${points.length} kills, ${platform.missed.length} traps not walked into: ${runs.length} runs (${runs.filter(({ missed }) => missed > 0).length} after missed periods), ${claims.length} claims\n`,
      )
      expect(platform.missed.length).toBeLessThanOrEqual(3)
      expect(runs.length).toBeGreaterThan(points.length / 2)
      expect(claims.filter(({ state }) => state === 'signed').length).toBeGreaterThan(points.length)
      expect(runs.some(({ missed }) => missed > 0)).toBe(true)
    },
    'each period has exactly one run, which ends with the claims that were signed'({ rows }) {
      const runs = rows<RunRow>('select * from fee_schedule_runs')
      expect(new Set(runs.map(({ scheduled_at }) => scheduled_at)).size).toBe(runs.length)
      expect(runs.every(({ scheduled_at }) => scheduled_at !== null && scheduled_at % MINUTE_MS === 0)).toBe(true)
      expect(runs.filter(({ status }) => status === 'running')).toEqual([])
      const signed = rows<{ signature: string }>("select signature from fee_schedule_claims where state = 'signed'")
      expect(new Set(signed.map(({ signature }) => signature)).size).toBe(signed.length)
      expect(runs.reduce((sum, { claimed }) => sum + claimed, 0)).toBe(signed.length)
    },
    async 'each claim of a run has at most one signature, and the vault made no other'({ platform, points, rows }) {
      const { chain, daemon, vault } = platform
      const signings = rows<{ id: string; message_sha256: string }>(
        "select * from signings where operation = 'fee_claim.create' and state != 'abandoned'",
      )
      const claims = rows<{ signing_id: string; signature: string | null }>(
        'select signing_id, signature from fee_schedule_claims where signing_id is not null',
      )
      expect(signings.map(({ id }) => id).toSorted()).toEqual(claims.map(({ signing_id }) => signing_id).toSorted())
      const known = new Set(signings.map(({ message_sha256 }) => message_sha256))
      const made = platform
        .inputs()
        .map(sha256)
        .filter((hash) => vault.signatures.has(hash))
      expect(made.filter((hash) => !known.has(hash))).toEqual([])
      const landed = await chain.getSignaturesForAddress(new PublicKey(vault.key.address), { limit: 1_000 })
      const ours = new Set(claims.flatMap(({ signature }) => (signature === null ? [] : [signature])))
      const claimed = landed.filter(({ signature, err }) => err === null && ours.has(signature))
      expect(claimed.length).toBeGreaterThan(points.length)
      expect((await daemon.request('GET', '/v2/audit-verification')).json.data.intact).toBe(true)
    },
  },
})
