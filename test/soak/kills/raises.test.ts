/** A daemon killed as it creates and settles raises and as buyers are paid: no lamport is lost, nothing happens twice. */
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Connection, Keypair, PublicKey, SystemProgram, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import Database from 'better-sqlite3'
import { expect, vi } from 'vitest'
import type { LedgerVerification } from '../../../src/api/ledger.ts'
import { decodeRaise, type Raise } from '../../../src/chain/programs/presale/index.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { type PoolPlan, raisedSum, raisePool } from '../../../src/solana/raise-pool.ts'
import { hasProgram } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import { TOKEN_ACCOUNT_RENT } from '../../support/rent.ts'
import { addressOf, signWith } from '../../support/wallets.ts'
import { killTest, momentsOf, requestsOf, seedOr } from './harness.ts'
import { openSigningPlatform, type PlatformPoint, trapsOf } from './platform.ts'

const SOL = 1_000_000_000n
const PATIENCE_MS = 20_000
const LASTS = 120
/** From the end of a raise with a planned pool until its tokens are released. */
const LOCK = 3_600
const FEE = 5_000n
const SUPPLY = 5_000_000_000_000n
const PLAN: PoolPlan = {
  ...{ quote_bps: 5_000, reserve: '2500000000000', price: 'raise', price_bps: 10_000 },
  ...{ fee_bps: 100, locked_bps: 10_000, when: 'after', opens_after_seconds: 600 },
}
const TERMS = { sale_mode: 'pro_rata', supply: String(SUPPLY), min: String(SOL), max: String(5n * SOL), pool: PLAN }
/** Rents of a raise with its vaults, and of a pool with its position. */
const [RAISE_RENT, POOL_RENT] = [10_088_880n, 16_499_840n]

type Phase = 'create' | 'settle' | 'work' | 'refund' | 'claim'
interface Kill {
  phase: Phase
  point: PlatformPoint
}
interface Made {
  mint: string
  id: string
  isFailed: boolean
  buyers: readonly Buyer[]
  isClaimed: boolean
}
interface Buyer {
  key: Keypair
  amount: bigint
}

async function startWorld() {
  const { next: random } = randomOf(seedOr(46))
  const platform = await openSigningPlatform()
  const { chain, vault } = platform
  const wallet = new PublicKey(vault.key.address)
  const maker = Keypair.generate()
  await platform.start()
  for (const key of [maker.publicKey, wallet]) await chain.requestAirdrop(key, 500 * Number(SOL))
  const limits = { lamports_per_transaction: String(50n * SOL), lamports_per_day: String(900n * SOL) }
  const patch = async (body: object) => {
    const { status, text } = await platform.daemon.request('PATCH', '/v2/signer/policy', { body })
    expect(status, text).toBe(200)
  }
  await patch(limits)
  const trap = trapsOf(platform, () => 1)
  const points = (): PlatformPoint[] => [
    trap.vault('answered'),
    trap.vault('asked'),
    trap.node('sendTransaction', 'asked'),
    trap.node('sendTransaction', 'answered'),
    trap.node('sendTransaction', 'delivered'),
    ...momentsOf(1, random).map((moment) => moment * 300),
  ]
  const of = (phase: Phase, count: number) =>
    points()
      .slice(0, count)
      .map((point): Kill => ({ phase, point }))
  /** The vault signs nothing for buyers. */
  const buyersOf = (phase: Phase, count: number) =>
    [...points().slice(2), ...momentsOf(2, random).map((moment) => moment * 60)]
      .slice(0, count)
      .map((point): Kill => ({ phase, point }))
  const requests = requestsOf<{ path: string; body: object; key: string }>({
    send: ({ path, body, key }) => platform.daemon.request('POST', path, { body, headers: { 'idempotency-key': key } }),
    check: ({ key }, { status, text }) => {
      if (!text.includes('is settled')) expect([key, status], text).toEqual([key, 200])
    },
  })
  return {
    ...{ platform, chain, wallet, maker, patch, requests, made: [] as Made[] },
    /** Kills in each phase that cut off a request, or struck at a trap. */
    hits: new Map<Phase, number>(),
    kills: [
      ...of('create', 5),
      ...of('settle', 4),
      ...of('work', 3),
      ...buyersOf('refund', 5),
      ...buyersOf('claim', 3),
    ],
    start: BigInt(await chain.getBalance(wallet, 'confirmed')),
  }
}
type World = Awaited<ReturnType<typeof startWorld>>

const accountOf = (owner: PublicKey, mint: PublicKey) => spl.getAssociatedTokenAddressSync(mint, owner)

/** A connection keeps a blockhash for a while, which a leap of the clock ends. */
const land = ({ platform }: World, transaction: Transaction, signers: Keypair[]) =>
  sendAndConfirmTransaction(new Connection(platform.chainProcess.url, 'confirmed'), transaction, signers)

/** A token of which the wallet has what it sells, and the reserve. */
async function newToken(world: World): Promise<string> {
  const { chain, maker, wallet, patch } = world
  const mint = Keypair.generate()
  const account = accountOf(wallet, mint.publicKey)
  const making = new Transaction().add(
    SystemProgram.createAccount({
      fromPubkey: maker.publicKey,
      newAccountPubkey: mint.publicKey,
      space: spl.MINT_SIZE,
      lamports: await spl.getMinimumBalanceForRentExemptMint(chain),
      programId: spl.TOKEN_PROGRAM_ID,
    }),
    spl.createInitializeMint2Instruction(mint.publicKey, 9, maker.publicKey, null),
    spl.createAssociatedTokenAccountInstruction(maker.publicKey, account, wallet, mint.publicKey),
    spl.createMintToInstruction(mint.publicKey, account, maker.publicKey, SUPPLY + BigInt(PLAN.reserve)),
    spl.createSetAuthorityInstruction(mint.publicKey, maker.publicKey, spl.AuthorityType.MintTokens, null),
  )
  await land(world, making, [maker, mint])
  const most = String(2n * SUPPLY)
  await patch({ tokens: [{ mint: addressOf(mint), per_transaction: most, per_day: most }] })
  return addressOf(mint)
}

async function chainSeconds({ chain }: World): Promise<number> {
  const clock = await chain.getAccountInfo(new PublicKey('SysvarC1ock11111111111111111111111111111111'), 'confirmed')
  return Number(clock!.data.readBigInt64LE(32))
}

async function readRaise({ chain }: World, id: string): Promise<Raise | null> {
  const account = await chain.getAccountInfo(new PublicKey(id), 'confirmed')
  return account && decodeRaise(id, { owner: account.owner.toBase58(), data: account.data })
}

/** Builds an act of a buyer through the daemon, and submits it with the buyer's signature; both can be asked again. */
async function actOf(
  world: World,
  id: string,
  { key, path, more = {} }: { key: Keypair; path: string; more?: object },
  kill?: Kill,
) {
  const { chain, requests } = world
  const named = `${path}-${id}-${addressOf(key)}`
  const build = { path: `/v2/raises/${id}/${path}`, body: { buyer: addressOf(key), ...more }, key: `build-${named}` }
  let submission: Parameters<typeof requests.ask>[0] | null = null
  const act = async () => {
    if (!requests.done.has(build) && !(await requests.ask(build))) return
    const transaction = signWith(requests.done.get(build)!.json.data.transaction, [key])
    submission ??= { path: '/v2/transactions', body: { transaction }, key: `submit-${named}` }
    if (!requests.done.has(submission)) await requests.ask(submission)
  }
  if (kill !== undefined) await killed(world, kill, act)
  await act()
  const { signature } = requests.done.get(submission!)!.json.data
  await until(async () => {
    const { value } = await chain.getSignatureStatus(signature)
    expect(value?.err ?? null).toBeNull()
    return value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized'
  }, 60_000)
}

/** A buyer with SOL deposits of it. */
async function buy(world: World, id: string, amount: bigint): Promise<Buyer> {
  const key = Keypair.generate()
  await world.chain.requestAirdrop(key.publicKey, 10 * Number(SOL))
  await until(async () => (await world.chain.getBalance(key.publicKey, 'confirmed')) > 0, 60_000)
  await actOf(world, id, { key, path: 'deposits', more: { amount: String(amount) } })
  return { key, amount }
}

/** Kills the daemon at the point of what is asked for, starts it again, and asks again for what was cut off. */
async function killed({ platform, requests, hits }: World, { phase, point }: Kill, asks: () => Promise<unknown>) {
  const missed = platform.missed.length
  await platform.killAt(point, PATIENCE_MS, () => [asks()])
  const isHit = requests.open.size > 0 || (typeof point !== 'number' && platform.missed.length === missed)
  if (isHit) hits.set(phase, (hits.get(phase) ?? 0) + 1)
  await platform.start()
  await requests.askAgain()
}

/** The daemon is down: its next look at each raise is due at once. */
function makeDue({ platform }: World): void {
  const db = new Database(join(platform.dataDir, 'svc.db'))
  db.prepare('update raises set next_check_at = 0 where next_check_at is not null').run()
  db.close()
}

async function isSettled(world: World, id: string): Promise<boolean> {
  const raise = (await readRaise(world, id))!
  if (!raise.creatorWithdrawn) return false
  if (raise.deposited < raise.minimum) return true
  const { data } = (await world.platform.daemon.request('GET', `/v2/raises/${id}`)).json
  return data.due.every(({ by }: { by: string }) => by === 'buyers')
}

async function settleByRequest(world: World, id: string, kill?: Kill): Promise<void> {
  const { requests, wallet } = world
  const body = { payer: wallet.toBase58(), mode: 'signed' }
  const request = (n: number) => ({ path: `/v2/raises/${id}/settlements`, body, key: `settle-${id}-${n}` })
  if (kill !== undefined) await killed(world, kill, () => requests.ask(request(0)))
  let n = 1
  await until(async () => {
    if (await isSettled(world, id)) return true
    await requests.ask(request(n++))
    return false
  }, 60_000)
}

const until = (holds: () => Promise<boolean>, timeout: number) =>
  vi.waitFor(async () => expect(await holds()).toBe(true), { timeout, interval: 250 })

/** The worker looks as soon as the daemon is up. */
async function settleByWorker(world: World, id: string, point: PlatformPoint): Promise<void> {
  const { platform } = world
  await platform.daemon.stop('SIGKILL')
  makeDue(world)
  await platform.start()
  await platform.killAt(point, PATIENCE_MS)
  for (let n = 0; n < 5 && !(n > 0 && (await isSettled(world, id))); n++) {
    if (n > 0) await platform.daemon.stop('SIGKILL')
    makeDue(world)
    await platform.start()
    await until(() => isSettled(world, id), 8_000).catch(() => {})
  }
  expect(await isSettled(world, id)).toBe(true)
}

async function runKill(world: World, kill: Kill): Promise<void> {
  const { phase, point } = kill
  const { requests, made, wallet } = world
  const mint = await newToken(world)
  const ends_at = new Date(((await chainSeconds(world)) + LASTS) * 1_000).toISOString()
  const body = { ...TERMS, payer: wallet.toBase58(), mint, mode: 'signed', settle: phase === 'work', ends_at }
  const request = { path: '/v2/raises', body, key: `raise-${mint}` }
  if (phase === 'create') await killed(world, kill, () => requests.ask(request))
  else await requests.ask(request)
  const { id } = requests.done.get(request)!.json.data
  await until(async () => (await readRaise(world, id)) !== null, 60_000)
  const isFailed = phase === 'refund' || (phase !== 'claim' && made.length % 4 === 3)
  const amount = isFailed ? SOL / 4n : SOL + BigInt(made.length)
  const buyers = [await buy(world, id, amount), await buy(world, id, amount + 1n)]
  await advance(world, LASTS)
  if (phase === 'work') await settleByWorker(world, id, point)
  else await settleByRequest(world, id, phase === 'settle' ? kill : undefined)
  if (isFailed) await payOut(world, id, buyers, 'refunds', phase === 'refund' ? kill : undefined)
  if (phase === 'claim') {
    await advance(world, LOCK)
    await payOut(world, id, buyers, 'claims', kill)
  }
  made.push({ mint, id, isFailed, buyers, isClaimed: phase === 'claim' })
}

const advance = ({ platform }: World, seconds: number) =>
  fetch(platform.chainProcess.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_advance', params: [seconds] }),
  })

/** The daemon is killed during the act of the first buyer. */
async function payOut(world: World, id: string, [first, ...others]: readonly Buyer[], path: string, kill?: Kill) {
  await actOf(world, id, { key: first!.key, path }, kill)
  for (const { key } of others) await actOf(world, id, { key, path })
}

/** What a raise leaves with the wallet, and with its pool. */
async function outcomeOf(world: World, { id, isFailed }: Made) {
  if (isFailed) return { quote: 0n, tokens: SUPPLY + BigInt(PLAN.reserve) }
  const pool = raisePool(PLAN, raisedSum((await readRaise(world, id))!))
  if (typeof pool === 'string') throw new Error(pool)
  const { raised } = raisedSum((await readRaise(world, id))!)
  return { quote: raised - pool.quote, tokens: BigInt(PLAN.reserve) - pool.tokens }
}

const unitsOf = async ({ chain, wallet }: World, mint: PublicKey, owner = wallet) =>
  BigInt((await chain.getTokenAccountBalance(accountOf(owner, mint), 'confirmed')).value.amount)

killTest<World, Kill>({
  title: `raises of a daemon that is killed around each step (SOAK_SEED=${seedOr(46)}):`,
  skip: [PROGRAMS.presale, PROGRAMS.dammV2].some(({ id }) => !hasProgram(id)),
  start: startWorld,
  points: ({ kills }) => kills,
  kill: runKill,
  end: ({ platform }) => platform.end(),
  holds: {
    '20 kills leave as many settled raises, one for each token'({ kills, made, platform, requests, hits }) {
      const counts = {
        kills: kills.length,
        ...Object.fromEntries(hits),
        ...requests.again,
        missed: platform.missed.length,
      }
      process.stdout.write(`  ${JSON.stringify(counts)}\n`)
      expect([kills.length, made.length]).toEqual([20, 20])
      expect(new Set(made.map(({ id }) => id)).size).toBe(20)
      expect(platform.missed.length).toBeLessThanOrEqual(4)
      for (const phase of ['create', 'settle', 'refund', 'claim'] as const) {
        expect([phase, (hits.get(phase) ?? 0) >= 3]).toEqual([phase, true])
      }
    },
    async 'each token has one raise, whose quote has left it'(world) {
      for (const { id, isFailed, isClaimed } of world.made) {
        const raise = (await readRaise(world, id))!
        const held = async (vault: string) =>
          (await world.chain.getTokenAccountBalance(new PublicKey(vault), 'confirmed')).value.amount
        expect(await held(raise.quoteVault)).toBe('0')
        const left = isFailed ? 0n : isClaimed ? SUPPLY - raise.claimed : SUPPLY
        expect(await held(raise.baseVault)).toBe(String(left))
      }
    },
    async 'each buyer has what was refunded to the lamport, or the tokens to the unit'(world) {
      for (const { id, mint, isFailed, isClaimed, buyers } of world.made.filter(
        (each) => each.isFailed || each.isClaimed,
      )) {
        const raise = (await readRaise(world, id))!
        for (const { key, amount } of buyers) {
          const spent = 10n * SOL - BigInt(await world.chain.getBalance(key.publicKey, 'confirmed'))
          expect([id, spent]).toEqual([id, 2n * FEE + (isFailed ? 0n : amount + TOKEN_ACCOUNT_RENT)])
          const tokens = isClaimed ? (SUPPLY * amount) / raise.deposited : null
          if (tokens !== null) expect(await unitsOf(world, new PublicKey(mint), key.publicKey)).toBe(tokens)
        }
      }
    },
    async 'the wallet has its part of the quote and of each token to the unit'(world) {
      let quote = 0n
      for (const made of world.made) {
        const left = await outcomeOf(world, made)
        quote += left.quote
        expect(await unitsOf(world, new PublicKey(made.mint)), made.id).toBe(left.tokens)
      }
      expect(await unitsOf(world, spl.NATIVE_MINT)).toBe(quote)
    },
    async 'the wallet has paid rents and network fees, and nothing else'(world) {
      const { chain, wallet, made, start } = world
      const spent = start - BigInt(await chain.getBalance(wallet, 'confirmed'))
      const pools = BigInt(made.filter(({ isFailed }) => !isFailed).length)
      const rents = BigInt(made.length) * RAISE_RENT + pools * POOL_RENT + TOKEN_ACCOUNT_RENT
      let fees = 0n
      for (const { signature } of await chain.getSignaturesForAddress(wallet, { limit: 1_000 })) {
        const transaction = await chain.getTransaction(signature, { maxSupportedTransactionVersion: 0 })
        const payer = transaction!.transaction.message.staticAccountKeys[0]!
        if (payer.equals(wallet)) fees += BigInt(transaction!.meta!.fee)
      }
      expect(spent).toBe(rents + fees)
    },
    async 'the ledger of the daemon agrees with the chain'({ platform }) {
      const verify = async () => {
        const found: object[] = []
        let waiting = 0
        for (let cursor: string | null = ''; cursor !== null; ) {
          const path: string = `/v2/ledger/verification${cursor && `?cursor=${cursor}`}`
          const { data }: { data: LedgerVerification } = (await platform.daemon.request('GET', path)).json
          found.push(...data.faults, ...data.unread)
          waiting = data.waiting
          cursor = data.next_cursor
        }
        return [waiting, found]
      }
      await vi.waitFor(async () => expect(await verify()).toEqual([0, []]), { timeout: 60_000, interval: 1_000 })
    },
  },
})
