/** A daemon that is killed as it creates and settles raises, by request and by its worker: no lamport is lost, nothing happens twice. */
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Connection, Keypair, PublicKey, SystemProgram, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import Database from 'better-sqlite3'
import { expect, vi } from 'vitest'
import {
  decodeRaise,
  depositInstruction,
  escrowInstruction,
  type Raise,
  raiseEscrowAddress,
  refundInstruction,
} from '../../../src/chain/programs/presale/index.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { type PoolPlan, raisedSum, raisePool } from '../../../src/solana/raise-pool.ts'
import { hasProgram } from '../../support/programs.ts'
import { sdk } from '../../support/raises.ts'
import { randomOf } from '../../support/random.ts'
import { TOKEN_ACCOUNT_RENT } from '../../support/rent.ts'
import { addressOf } from '../../support/wallets.ts'
import { killTest, momentsOf, requestsOf, seedOr } from './harness.ts'
import { openSigningPlatform, type PlatformPoint, trapsOf } from './platform.ts'

const SOL = 1_000_000_000n
const PATIENCE_MS = 20_000
const LASTS = 120
const SUPPLY = 5_000_000_000_000n
const PLAN: PoolPlan = {
  ...{ quote_bps: 5_000, reserve: '2500000000000', price: 'raise', price_bps: 10_000 },
  ...{ fee_bps: 100, locked_bps: 10_000, when: 'after', opens_after_seconds: 600 },
}
const TERMS = { sale_mode: 'pro_rata', supply: String(SUPPLY), min: String(SOL), max: String(5n * SOL), pool: PLAN }
/** Rents of a raise with its vaults, and of a pool with its position. */
const [RAISE_RENT, POOL_RENT] = [10_088_880n, 16_499_840n]

type Phase = 'create' | 'settle' | 'work'
interface Kill {
  phase: Phase
  point: PlatformPoint
}
interface Made {
  mint: string
  id: string
  isFailed: boolean
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
  const requests = requestsOf<{ path: string; body: object; key: string }>({
    send: ({ path, body, key }) => platform.daemon.request('POST', path, { body, headers: { 'idempotency-key': key } }),
    check: ({ key }, { status, text }) => {
      if (!text.includes('is settled')) expect([key, status], text).toEqual([key, 200])
    },
  })
  return {
    ...{ platform, chain, wallet, maker, patch, requests, made: [] as Made[], lent: 0n },
    kills: [...of('create', 6), ...of('settle', 6), ...of('work', 4), ...of('settle', 4)],
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

/** A buyer deposits, out of a wallet of its own. */
async function buy(world: World, id: string, amount: bigint): Promise<Keypair> {
  const key = Keypair.generate()
  const { publicKey } = key
  await world.chain.requestAirdrop(publicKey, 10 * Number(SOL))
  const account = accountOf(publicKey, spl.NATIVE_MINT)
  const raise = (await readRaise(world, id))!
  const own = { escrow: raiseEscrowAddress(id, addressOf(key), 0), owner: addressOf(key), payer: addressOf(key) }
  const buying = new Transaction().add(
    spl.createAssociatedTokenAccountInstruction(publicKey, account, publicKey, spl.NATIVE_MINT),
    SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: account, lamports: Number(amount) }),
    spl.createSyncNativeInstruction(account),
    sdk(escrowInstruction(id, own)),
    sdk(depositInstruction(raise, { ...own, from: account.toBase58(), amount })),
  )
  await land(world, buying, [key])
  return key
}

async function refund(world: World, id: string, key: Keypair, amount: bigint): Promise<void> {
  const account = accountOf(key.publicKey, spl.NATIVE_MINT)
  const own = { escrow: raiseEscrowAddress(id, addressOf(key), 0), owner: addressOf(key), to: account.toBase58() }
  const raise = (await readRaise(world, id))!
  await land(world, new Transaction().add(sdk(refundInstruction(raise, own))), [key])
  expect((await world.chain.getTokenAccountBalance(account, 'confirmed')).value.amount).toBe(String(amount))
}

/** Asks for it, and kills the daemon at the point. */
async function killed(
  { platform, requests }: World,
  request: Parameters<typeof requests.ask>[0],
  point: PlatformPoint,
) {
  await platform.killAt(point, PATIENCE_MS, () => [requests.ask(request)])
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

async function settleByRequest(world: World, id: string, point: PlatformPoint): Promise<void> {
  const { requests, wallet } = world
  const body = { payer: wallet.toBase58(), mode: 'signed' }
  const request = (n: number) => ({ path: `/v2/raises/${id}/settlements`, body, key: `settle-${id}-${n}` })
  await killed(world, request(0), point)
  let n = 1
  await until(async () => {
    if (await isSettled(world, id)) return true
    await requests.ask(request(n++))
    return false
  }, 60_000)
}

const until = (holds: () => Promise<boolean>, timeout: number) =>
  vi.waitFor(async () => expect(await holds()).toBe(true), { timeout, interval: 1_000 })

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

async function runKill(world: World, { phase, point }: Kill): Promise<void> {
  const { requests, made, chain, wallet, platform } = world
  const mint = await newToken(world)
  const ends_at = new Date(((await chainSeconds(world)) + LASTS) * 1_000).toISOString()
  const body = { ...TERMS, payer: wallet.toBase58(), mint, mode: 'signed', settle: phase === 'work', ends_at }
  const request = { path: '/v2/raises', body, key: `raise-${mint}` }
  if (phase === 'create') await killed(world, request, point)
  else await requests.ask(request)
  const { id } = requests.done.get(request)!.json.data
  await until(async () => (await readRaise(world, id)) !== null, 60_000)
  const isFailed = made.length % 4 === 3
  const amount = isFailed ? SOL / 2n : 2n * SOL + BigInt(made.length)
  const buyer = await buy(world, id, amount)
  await fetch(platform.chainProcess.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_advance', params: [LASTS] }),
  })
  if (phase === 'work') await settleByWorker(world, id, point)
  else await settleByRequest(world, id, phase === 'settle' ? point : 1)
  if (isFailed) await refund(world, id, buyer, amount)
  made.push({ mint, id, isFailed })
  expect(await chain.getBalance(buyer.publicKey)).toBeGreaterThan(0)
}

/** What a raise leaves with the wallet, and with its pool. */
async function outcomeOf(world: World, { id, isFailed }: Made) {
  if (isFailed) return { quote: 0n, tokens: SUPPLY + BigInt(PLAN.reserve) }
  const pool = raisePool(PLAN, raisedSum((await readRaise(world, id))!))
  if (typeof pool === 'string') throw new Error(pool)
  const { raised } = raisedSum((await readRaise(world, id))!)
  return { quote: raised - pool.quote, tokens: BigInt(PLAN.reserve) - pool.tokens }
}

const unitsOf = async ({ chain, wallet }: World, mint: PublicKey) =>
  BigInt((await chain.getTokenAccountBalance(accountOf(wallet, mint), 'confirmed')).value.amount)

killTest<World, Kill>({
  title: `raises of a daemon that is killed around each step (SOAK_SEED=${seedOr(46)}):`,
  skip: [PROGRAMS.presale, PROGRAMS.dammV2].some(({ id }) => !hasProgram(id)),
  start: startWorld,
  points: ({ kills }) => kills,
  kill: runKill,
  end: ({ platform }) => platform.end(),
  holds: {
    '20 kills leave as many settled raises, one for each token'({ kills, made, platform, requests }) {
      process.stdout.write(
        `  ${kills.length} kills, ${made.filter(({ isFailed }) => isFailed).length} failed raises, ${requests.again.resumed} resumed, ${platform.missed.length} traps missed\n`,
      )
      expect([kills.length, made.length]).toEqual([20, 20])
      expect(new Set(made.map(({ id }) => id)).size).toBe(20)
      expect(platform.missed.length).toBeLessThanOrEqual(4)
    },
    async 'each token has one raise, whose quote has left it'(world) {
      for (const { id, isFailed } of world.made) {
        const raise = (await readRaise(world, id))!
        const held = async (vault: string) =>
          (await world.chain.getTokenAccountBalance(new PublicKey(vault), 'confirmed')).value.amount
        expect(await held(raise.quoteVault)).toBe('0')
        expect(await held(raise.baseVault)).toBe(isFailed ? '0' : String(SUPPLY))
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
  },
})
