/** Launches, claims and migrations over a node that fails in every way: each ends in one effect or a clear error. */

import { deriveDbcTokenVaultAddress } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { getAssociatedTokenAddressSync, NATIVE_MINT } from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { metadataAddressOf } from '../../src/chain/programs/tokens/index.ts'
import type { LandedTransaction } from '../../src/localnet/types.ts'
import { splitAmount } from '../../src/operations/fee-claims/plan-claim.ts'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { count, FAULTS } from '../support/faulty-node.ts'
import { SOL } from '../support/local-chain.ts'
import {
  addressOf,
  type ChainAndNode,
  faultsBy,
  IMAGE,
  lackingPrograms,
  openChainAndNode,
  openPlatform,
  type Platform,
  type Random,
  RICH,
  setPolicy,
} from '../support/pool-platform.ts'
import { randomOf } from '../support/random.ts'
import { rentForBytes, WALLET_RENT } from '../support/rent.ts'
import type { Answer } from '../support/request.ts'
import { soakRuns } from '../support/runs.ts'
import { keypairOf, signWith } from '../support/wallets.ts'

const SCHEDULES = soakRuns(40, 120)
const FIRST_SEED = 2_000
const SEEDS =
  process.env.FAULT_SEED === undefined
    ? Array.from({ length: SCHEDULES }, (_, i) => FIRST_SEED + i)
    : [Number(process.env.FAULT_SEED)]

/** Every migration goes to accounts of the platform wallet that it pays the rent of. */
const MIGRATION_RENT = { tiny: rentForBytes(3_248), vested: rentForBytes(3_965) }

/** Discriminators of the program's IDL. */
const INSTRUCTIONS = {
  create: ['8c55d7b06636684f'],
  claim: ['08ec5931987db151', '54bf473209a237c1'],
  locker: ['a75a899a4b2f1154'],
  migrate: ['9ca9e66735e45040'],
}
type Kind = keyof typeof INSTRUCTIONS

const UNCLEAR =
  /\bat \S+ ?\(?\S*\.[jt]s:\d+|TypeError|destructure|Cannot read|is not iterable|TOPSECRET|api-key|Something went wrong/i

/** What people read of an error: one sentence that says what went wrong, and neither code nor credentials. */
function expectClear(message: unknown): void {
  expect(message).toEqual(expect.any(String))
  expect(String(message).length).toBeGreaterThan(10)
  expect(message).not.toMatch(UNCLEAR)
}

const CODES: Record<number, string> = { 400: 'bad_request', 404: 'not_found', 409: 'conflict', 500: 'internal_error' }

function expectClearAnswer({ status, json, text }: Answer): void {
  if (status < 300) return
  expect([status, json.error.code]).toEqual([status, CODES[status]])
  expectClear(json.error.message)
  expect(text).not.toContain('TOPSECRET')
}

/** A fault of the node, and never one of the code. */
function expectFault(error: unknown): void {
  expect(error).toBeInstanceOf(ApiError)
  expectClear((error as Error).message)
}

const totals = {
  answers: new Map<string, number>(),
  ends: new Map<string, number>(),
  transactions: new Map<string, number>(),
  signings: new Map<string, number>(),
  requests: 0,
}

describe.skipIf(lackingPrograms.length > 0)(`with a node that fails at random (${lackingPrograms.join(', ')}),`, () => {
  let base: ChainAndNode
  let platform: Platform
  const trader = Keypair.generate()

  beforeAll(async () => {
    base = await openChainAndNode()
    platform = await openPlatform(base)
    await setPolicy(platform, RICH)
    base.chain.airdrop(addressOf(trader), 10_000n * SOL)
    base.clock.advance(1_000)
  })
  afterAll(async () => {
    await platform?.close()
    base?.close()
  })

  const lamportsOf = (of: string | PublicKey | Keypair) =>
    base.chain.account(of instanceof Keypair ? addressOf(of) : String(of))?.lamports ?? 0n
  const db = () => platform.services.store.db

  /** Puts a transaction into the history of each address, past the node. It moves nothing. */
  function mention(addresses: Iterable<string>): void {
    const { blockhash: recentBlockhash } = base.chain.latestBlockhash()
    for (const address of addresses) {
      const to = new PublicKey(address)
      const nothing = SystemProgram.transfer({ fromPubkey: trader.publicKey, toPubkey: to, lamports: 0 })
      const message = new TransactionMessage({ payerKey: trader.publicKey, recentBlockhash, instructions: [nothing] })
      const transaction = new VersionedTransaction(message.compileToV0Message())
      transaction.sign([trader])
      expect(base.chain.send(transaction.serialize()).err).toBeNull()
    }
    base.clock.advance(1_000)
  }

  /** One run of the story of a pool, from its launch as far as it comes. */
  class Schedule {
    readonly seed: number
    readonly random: Random
    readonly story: string[] = []
    readonly start = { landed: base.landed.length, logged: platform.logged.length, row: 0, signing: 0 }
    readonly decide: ReturnType<typeof faultsBy>
    /** Signatures of what the user signed with the wallet's own key. */
    readonly unsigned = new Set<string>()
    /** Of the claims that were reported, newest first. */
    told: string[] = []
    keys = 0

    constructor(seed: number) {
      this.seed = seed
      this.random = randomOf(seed)
      this.decide = faultsBy(this.random)
    }

    fail() {
      base.node.decide = (method) => {
        const fault = this.decide(method)
        if (fault !== undefined) this.story.push(`${method}: ${fault}`)
        return fault
      }
      if (this.random.chance(0.1)) base.node.lag = this.random.between(1, 50)
    }

    heal() {
      base.node.decide = () => undefined
      base.node.lag = 0
    }

    /** Both workers once, at times of two daemons at once. */
    async tick(milliseconds: number) {
      base.clock.advance(milliseconds)
      const rounds = [followTransactions(platform.services), followPools(platform.services)]
      if (this.random.chance(0.1)) rounds.push(followPools(platform.services), followTransactions(platform.services))
      for (const result of await Promise.allSettled(rounds)) {
        if (result.status === 'rejected') expectFault(result.reason)
      }
    }

    async once(method: string, path: string, body: object, key: string): Promise<Answer> {
      const answer = await platform.request(method, path, { body, headers: { 'idempotency-key': key } })
      this.story.push(`${method} ${path} ${key}: ${answer.status} ${answer.json?.error?.message ?? ''}`)
      totals.requests++
      count(totals.answers, `${answer.status}`)
      expectClearAnswer(answer)
      return answer
    }

    /**
     * As the document asks of clients: again with the same key after a 409 or 500. It ends at the latest when the node is
     * healed, and the history of the wallet proves what one node cannot.
     */
    async ask(path: string, body: object, key = `${this.seed}-${this.keys++}`): Promise<Answer> {
      const patience = this.random.between(1, 5)
      for (let tries = 1; tries < 20; tries++) {
        if (tries > patience) this.heal()
        if (tries === 10) mention([addressOf(base.wallet)])
        const together = this.random.chance(0.15)
        const asked = [this.once('POST', path, body, key), ...(together ? [this.once('POST', path, body, key)] : [])]
        if (this.random.chance(0.2)) await this.tick(this.random.between(200, 5_000))
        const answers = await Promise.all(asked)
        const ended = answers.find(({ status }) => status !== 409 && status !== 500)
        if (ended !== undefined) return ended
        base.clock.advance(this.random.between(500, 4_000))
      }
      throw new Error(`the request ${path} does not end`)
    }

    async read(path: string) {
      const { status, json } = await platform.request('GET', path)
      expect(status).toBe(200)
      return json.data
    }

    /**
     * Heals the node, and lets everything that was begun come to its end. What one node cannot prove, the histories of the
     * payers do once they go on.
     */
    async settle(isDone: () => Promise<boolean> = async () => true) {
      this.heal()
      for (let i = 0; i < 100; i++) {
        const open = await db()
          .selectFrom('transactions')
          .select('raw')
          .where('next_check_at', 'is not', null)
          .execute()
        if (open.length === 0 && (await isDone())) return
        const payers = open.map(({ raw }) => decodeWireTransaction(raw).message.keys[0]!)
        if (i % 20 === 19) mention(new Set(payers))
        await this.tick(10_000)
      }
      expect.unreachable('something does not come to its end')
    }

    /** Without what the trader paid for, past the node. */
    landed(from = this.start.landed): LandedTransaction[] {
      return base.landed.slice(from).filter(({ accountKeys }) => accountKeys[0] !== addressOf(trader))
    }

    /** Those with the instruction, of one pool where it is given. */
    landedOf(kind: Kind, from: number, pool?: string): LandedTransaction[] {
      return this.landed(from).filter(
        ({ raw, accountKeys }) => isOf(raw, kind) && (pool === undefined || accountKeys.includes(pool)),
      )
    }

    feesOf(payer: Keypair, from: number): bigint {
      const paid = this.landed(from).filter(({ accountKeys }) => accountKeys[0] === addressOf(payer))
      return paid.reduce((sum, { fee }) => sum + fee, 0n)
    }

    async submit(text: string, signers: Keypair[]): Promise<string | null> {
      const { status, json } = await this.ask('/v2/transactions', { transaction: signWith(text, signers) })
      return status === 200 ? json.data.signature : null
    }

    /** Until it is confirmed, or can land no more, or nothing proves what became of it. */
    async confirmed(signature: string): Promise<boolean> {
      for (let i = 0; i < 60; i++) {
        if (i === 10) this.heal()
        const { lifecycle, absence } = await this.read(`/v2/transactions/${signature}`)
        if (lifecycle === 'failed' || absence === 'unproven') return false
        if (lifecycle === 'confirmed' || lifecycle === 'finalized') return true
        await this.tick(this.random.between(1_000, 8_000))
      }
      throw new Error(`${signature} does not come to its end`)
    }

    async launch(preset: 'tiny' | 'vested') {
      const { random, seed } = this
      const mode = random.pick(['unsigned', 'signed'] as const)
      const creator = mode === 'signed' ? base.wallet : Keypair.generate()
      if (mode === 'unsigned') base.chain.airdrop(addressOf(creator), 5n * SOL)
      base.clock.advance(1_000)
      const [before, from] = [lamportsOf(creator), base.landed.length]
      const symbol = `T${seed}`.slice(0, 10)
      const body = {
        creator: addressOf(creator),
        name: `Token ${seed}`,
        symbol,
        image: IMAGE,
        preset,
        mode,
        buy_amount: random.pick([0, 0.05, 0.123456789]),
      }
      this.fail()
      const { status, json } = await this.ask('/v2/pools', body)
      const signatures: string[] = json.data?.signatures ?? []
      if (status === 201 && mode === 'unsigned') {
        const { transactions, required_signers } = json.data
        const { base_mint_secret_key, config_secret_key } = required_signers
        const signers = [creator, keypairOf(base_mint_secret_key), keypairOf(config_secret_key)]
        for (const transaction of transactions) {
          const signature = await this.submit(transaction, signers)
          if (signature === null) break
          signatures.push(signature)
          if (!(await this.confirmed(signature))) break
        }
      }
      const known = await this.pools(symbol)
      await this.settle(async () => (await this.pools(symbol)).every(({ status }) => status !== 'pending'))
      const pools = await this.pools(symbol)
      // One that was begun and came to nothing stays, as failed.
      if (status === 201) expect([known.length, pools.length]).toEqual([1, 1])
      else expect(pools.filter(({ status }) => status !== 'failed')).toEqual([])
      expect(pools.length).toBeLessThanOrEqual(1)
      const created = this.landedOf('create', from)
      expect(created.filter(({ err }) => err !== null)).toEqual([])
      const [pool] = pools
      const isLive = pool !== undefined && base.chain.account(pool.address) !== null
      expect(created.length).toBe(isLive ? 1 : 0)
      if (pool !== undefined) {
        if (status === 201) expect(json.data.pool.address).toBe(pool.address)
        expect(pool.status).toBe(isLive ? 'live' : 'failed')
        await this.expectEvents(pool.address, ['pool.created', isLive ? 'pool.live' : 'pool.failed'])
      }
      const lost = before - lamportsOf(creator) - this.feesOf(creator, from)
      const accounts = pool === undefined ? [] : await accountsOf(pool, creator)
      if (pool !== undefined || this.landed(from).length === 0) {
        expect(lost).toBe(accounts.reduce((sum, address) => sum + lamportsOf(address), 0n))
      }
      count(totals.ends, `${mode} launch ${status === 201 ? (isLive ? 'live' : 'failed') : status}`)
      return isLive ? pool : null
    }

    pools = (symbol: string) => db().selectFrom('pools').selectAll().where('symbol', '=', symbol).execute()

    async expectEvents(pool: string, types: string[]) {
      const events = await db()
        .selectFrom('events')
        .select('type')
        .where('resource_id', '=', pool)
        .orderBy('sequence')
        .execute()
      expect(events.map(({ type }) => type).filter((type) => type.startsWith('pool.'))).toEqual(types)
    }

    /** Buys past the node, whose faults are not the trader's. */
    async buy(pool: string, lamports: bigint) {
      this.heal()
      const body = { payer: addressOf(trader), side: 'buy', amount: String(lamports) }
      const { json } = await platform.request('POST', `/v2/pools/${pool}/swaps`, { body })
      expect(json.error).toBeUndefined()
      const raw = Buffer.from(signWith(json.data.tx.transaction, [trader]), 'base64')
      expect(base.chain.send(raw).err).toBeNull()
      base.clock.advance(1_000)
    }

    async claim(pool: string) {
      const { random } = this
      await this.buy(pool, BigInt(random.between(10_000_000, 90_000_000)))
      const claimable = BigInt((await this.read(`/v2/pools/${pool}/fee-metrics`)).partner_quote_fee)
      expect(claimable).toBeGreaterThan(0n)
      const mode = random.pick(['signed', 'unsigned'] as const)
      const payer = mode === 'unsigned' && random.chance(0.5) ? Keypair.generate() : base.wallet
      if (payer !== base.wallet) base.chain.airdrop(addressOf(payer), SOL)
      const bps = random.pick([[], [5_000, 5_000], [1, 2_499, 7_500], [3_333, 3_333, 3_333, 1]])
      const isPoor = random.chance(0.1)
      const recipients = bps.map(() => Keypair.generate())
      for (const [i, key] of recipients.entries()) {
        if (i > 0 || !isPoor) base.chain.airdrop(addressOf(key), WALLET_RENT)
      }
      base.clock.advance(1_000)
      const splits = recipients.map((key, i) => ({ recipient: addressOf(key), bps: bps[i]! }))
      const body = { payer: addressOf(payer), mode, ...(splits.length > 0 ? { splits } : {}) }
      const held = recipients.map(lamportsOf)
      const from = base.landed.length
      const before = { wallet: lamportsOf(base.wallet), payer: lamportsOf(payer) }
      this.fail()
      const twice = mode === 'signed' && splits.length > 0 && random.chance(0.2)
      const path = `/v2/pools/${pool}/fee-claims`
      const answers = await Promise.all([this.ask(path, body), ...(twice ? [this.ask(path, body)] : [])])
      const signatures: string[] = []
      const amounts = new Map<string, bigint>()
      for (const { status, json } of answers) {
        if (status !== 200) continue
        const { tx, estimated_quote } = json.data
        const signature = mode === 'signed' ? tx.signature : await this.submit(tx.transaction, [base.wallet, payer])
        if (signature === null) continue
        signatures.push(signature)
        // A node that lags shows less, never more.
        expect(BigInt(estimated_quote)).toBeLessThanOrEqual(claimable)
        amounts.set(signature, BigInt(estimated_quote))
        if (mode === 'unsigned') this.unsigned.add(signature)
      }
      await this.settle()
      const claims = this.landedOf('claim', from, pool)
      const paid = claims.filter(({ err }) => err === null)
      expect(paid.length).toBeLessThanOrEqual(1)
      expect(new Set(signatures).size).toBe(signatures.length)
      expect(claims.map(({ signature }) => signature).filter((each) => !signatures.includes(each))).toEqual([])
      const isPaid = paid.length === 1
      const amount = isPaid ? amounts.get(paid[0]!.signature)! : 0n
      // The account of the token that a claim opens stays empty and is closed again, so that it costs no rent.
      const shares = isPaid ? splitAmount(amount, bps) : bps.map(() => 0n)
      expect(recipients.map((key, i) => lamportsOf(key) - held[i]!)).toEqual(shares)
      const kept = bps.length === 0 ? amount : 0n
      const fees = this.feesOf(payer, from)
      if (payer === base.wallet) expect(lamportsOf(base.wallet) - before.wallet).toBe(kept - fees)
      else {
        expect(lamportsOf(base.wallet) - before.wallet).toBe(kept)
        expect(lamportsOf(payer) - before.payer).toBe(-fees)
      }
      const left = BigInt((await this.read(`/v2/pools/${pool}/fee-metrics`)).partner_quote_fee)
      expect(left).toBe(claimable - amount)
      const records = await this.read(`/v2/pools/${pool}/fee-claims`)
      const events = (await this.read(`/v2/events?limit=100`)).filter(
        ({ type, data }: { type: string; data: { object: { resource_id: string } } }) =>
          type.startsWith('fee_claim.') && data.object.resource_id === pool,
      )
      const told = paid.map(({ signature }) => signature)
      const already = this.told
      this.told = [...told, ...already]
      expect(records.map(({ signature }: { signature: string }) => signature)).toEqual(this.told)
      expect(events.map(({ data }: { data: { object: { signature: string } } }) => data.object.signature)).toEqual(
        this.told,
      )
      const end = isPaid ? 'paid' : signatures.length > 0 ? 'expired' : answers.map(({ status }) => status).join()
      count(totals.ends, `${mode} claim ${end}`)
    }

    async migrate(pool: string, mint: string, preset: 'tiny' | 'vested') {
      if (preset === 'vested') {
        const tokens = [{ mint, per_transaction: '1000000000000', per_day: '1000000000000' }]
        await setPolicy(platform, { tokens })
      }
      await this.buy(pool, 5n * SOL)
      const before = lamportsOf(base.wallet)
      const from = base.landed.length
      this.fail()
      for (let i = this.random.between(2, 12); i > 0; i--) await this.tick(this.random.between(3_000, 15_000))
      await this.settle(async () => (await this.read(`/v2/pools/${pool}`)).status === 'migrated')
      expect(this.landedOf('migrate', from, pool).map(({ err }) => err)).toEqual([null])
      expect(this.landedOf('locker', from, pool).map(({ err }) => err)).toEqual(preset === 'vested' ? [null] : [])
      await this.expectEvents(pool, ['pool.created', 'pool.live', 'pool.migration_triggered', 'pool.migrated'])
      const after = await db().selectFrom('pools').selectAll().where('dbc_pool', '=', pool).execute()
      expect(after).toMatchObject([{ type: 'damm_v2', base_mint: mint, status: 'live' }])
      expect(base.chain.account(after[0]!.address)).not.toBeNull()
      expect(before - lamportsOf(base.wallet) - this.feesOf(base.wallet, from)).toBe(MIGRATION_RENT[preset])
      count(totals.ends, `${preset} migrated`)
    }

    /** What holds whatever happened: records agree with the chain, and every signature is counted. */
    async expectTrueRecords() {
      for (const row of await db().selectFrom('transactions').selectAll().where('seq', '>', this.start.row).execute()) {
        const landed = base.chain.transaction(row.signature)
        const err = landed === null ? 'BlockhashExpired' : landed.err
        const lifecycle = err === null ? 'finalized' : 'failed'
        expect([row.signature, row.lifecycle, row.err_json]).toEqual([
          row.signature,
          lifecycle,
          err === null ? null : JSON.stringify(err),
        ])
        count(totals.transactions, `${lifecycle} ${row.err_json ?? ''}`.trim())
      }
      const signings = await db().selectFrom('signings').selectAll().where('seq', '>', this.start.signing).execute()
      const signed = new Map(signings.map((signing) => [signing.signature, signing]))
      for (const { id, state, signature } of signings) {
        const spends = await db().selectFrom('signer_spends').selectAll().where('signing_id', '=', id).execute()
        const lamports = spends.filter(({ mint }) => mint === '').map(({ amount }) => BigInt(amount))
        expect(lamports.length).toBe(state === 'abandoned' ? 0 : 1)
        const landed = signature === null ? null : base.chain.transaction(signature)
        const lost = landed === null ? 0n : landed.preBalances[0]! - landed.postBalances[0]!
        if (lost > 0n) expect(lost).toBeLessThanOrEqual(lamports[0]!)
        count(totals.signings, state)
      }
      // What the wallet paid for, it signed through the policy, or as the user of an unsigned claim.
      const paid = this.landed().filter(({ accountKeys }) => accountKeys[0] === addressOf(base.wallet))
      for (const { signature } of paid) {
        if (!this.unsigned.has(signature)) expect(signed.get(signature)?.state).toBe('signed')
      }
    }

    expectQuietLog() {
      for (const { fields, message } of platform.logged.slice(this.start.logged)) {
        expectClear(message)
        const { err } = fields as { err?: unknown }
        if (err !== undefined) expectFault(err)
        expect(JSON.stringify({ ...fields, err: undefined })).not.toMatch(UNCLEAR)
      }
    }

    async run() {
      const last = (table: 'transactions' | 'signings') =>
        db().selectFrom(table).select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst()
      this.start.row = (await last('transactions'))?.seq ?? 0
      this.start.signing = (await last('signings'))?.seq ?? 0
      const preset = this.random.pick(['tiny', 'tiny', 'vested'] as const)
      const pool = await this.launch(preset)
      if (pool !== null) {
        const claims = this.random.pick([0, 0, 1, 1, 2])
        for (let i = 0; i < claims; i++) await this.claim(pool.address)
        if (this.random.chance(0.5)) await this.migrate(pool.address, pool.base_mint, preset)
      }
      await this.expectTrueRecords()
      this.expectQuietLog()
    }
  }

  for (const seed of SEEDS) {
    it(`launch, claims and migration have one effect each, or a clear error (seed ${seed})`, async () => {
      const schedule = new Schedule(seed)
      try {
        await schedule.run()
      } catch (error) {
        const { message } = error as Error
        throw Object.assign(error as Error, { message: `seed ${seed}: ${message}\n${schedule.story.join('\n')}` })
      } finally {
        schedule.heal()
        // The schedules after it are not to look at what it left, nor to pay for it.
        await platform.services.store.write((tx) => tx.updateTable('pools').set({ next_check_at: null }).execute())
      }
    })
  }

  it('each fault and each end has occurred, and the audit log is intact', async () => {
    const verified = (await platform.request('GET', '/v2/audit-verification')).json.data
    expect(verified.intact).toBe(true)
    if (SEEDS.length < SCHEDULES) return
    expect(FAULTS.filter((fault) => (base.node.counts.get(fault) ?? 0) < soakRuns(2, 8))).toEqual([])
    const least = {
      'signed launch live': soakRuns(4, 12),
      'unsigned launch live': soakRuns(4, 12),
      'signed launch failed': soakRuns(0, 1),
      'unsigned launch failed': soakRuns(0, 2),
      'signed claim paid': soakRuns(2, 8),
      'unsigned claim paid': soakRuns(2, 8),
      'unsigned claim expired': soakRuns(0, 1),
      'tiny migrated': soakRuns(1, 5),
      'vested migrated': soakRuns(1, 3),
    }
    for (const [end, times] of Object.entries(least)) {
      expect([end, totals.ends.get(end) ?? 0]).toEqual([end, expect.toSatisfy((found: number) => found >= times)])
    }
    expect([...totals.transactions.keys()]).toEqual(expect.arrayContaining(['failed "BlockhashExpired"', 'finalized']))
    expect([...totals.answers.keys()].toSorted()).toEqual(expect.arrayContaining(['200', '201', '400', '409', '500']))
  })
})

function isOf(raw: Uint8Array, kind: Kind): boolean {
  const { keys, instructions } = decodeWireTransaction(raw).message
  return instructions.some(
    ({ programIdIndex, data }) =>
      keys[programIdIndex] === PROGRAMS.dbc.id &&
      INSTRUCTIONS[kind].includes(Buffer.from(data.slice(0, 8)).toString('hex')),
  )
}

/** What a launch puts lamports into. */
async function accountsOf(pool: { address: string; base_mint: string; config: string | null }, creator: Keypair) {
  const [key, mint] = [new PublicKey(pool.address), new PublicKey(pool.base_mint)]
  return [
    pool.address,
    pool.base_mint,
    pool.config!,
    await metadataAddressOf(pool.base_mint),
    deriveDbcTokenVaultAddress(key, mint).toBase58(),
    deriveDbcTokenVaultAddress(key, NATIVE_MINT).toBase58(),
    getAssociatedTokenAddressSync(mint, creator.publicKey).toBase58(),
  ]
}
