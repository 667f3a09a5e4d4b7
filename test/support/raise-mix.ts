/** One random raise: its terms, its buyers and its settlement, by requests and past them, until nothing is left. */
import * as spl from '@solana/spl-token'
import { type Keypair, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { expect } from 'vitest'
import {
  claimableNow,
  claimInstruction,
  creatorDue,
  creatorWithdrawalInstruction,
  decodeRaiseEscrow,
  depositInstruction,
  depositLimits,
  escrowInstruction,
  feeInstruction,
  feeOnTop,
  provenEscrowInstruction,
  raiseEscrowAddress,
  raiseStateAt,
  refundableNow,
  refundInstruction,
  roundOf,
  unsoldInstruction,
  withdrawableNow,
  withdrawalInstruction,
} from '../../src/chain/programs/presale/index.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { RAISE_MODES } from '../../src/solana/raises.ts'
import { type Mint, tokenAccountOf } from './gold.ts'
import { signed } from './local-chain.ts'
import { FIXED, isoOf, PRO_RATA } from './new-raises.ts'
import type { RaiseBooks } from './raise-books.ts'
import { sdk } from './raises.ts'
import type { randomOf } from './random.ts'
import { ORIGIN } from './service.ts'
import { POOL } from './settled-raises.ts'
import { addressOf, SOL } from './wallets.ts'

type Random = ReturnType<typeof randomOf>
type Verb = 'deposit' | 'withdraw' | 'claim' | 'refund'
const ROUTES: Record<Verb, string> = {
  deposit: 'deposits',
  withdraw: 'withdrawals',
  claim: 'claims',
  refund: 'refunds',
}
const WSOL = { mint: spl.NATIVE_MINT, program: spl.TOKEN_PROGRAM_ID } as Mint
const LASTS = 7_200
const MIN = BigInt(FIXED.min)

interface Buyer {
  key: Keypair
  /** From 0. */
  round: number
}

/** Who settles it: the worker, requests that the platform wallet signs, or the creator itself, built here or not. */
type Settling = 'worker' | 'request' | 'creator' | 'raw'

interface Terms {
  fails: boolean
  isOwn: boolean
  isListed: boolean
  /** Whether strangers may act past this service, so that the ledger has only a part. */
  isPartial: boolean
  settles: Settling
  body: object
}

/** Six raises have each way to settle, each mode twice, and one that fails; the first three are of the platform wallet. */
const SETTLING: readonly Settling[] = ['raw', 'worker', 'request', 'creator', 'raw', 'creator']

function termsOf(random: Random, number: number): Terms {
  const [sale_mode, settles] = [RAISE_MODES[number % 3]!, SETTLING[number % 6]!]
  const isOwn = number % 6 < 3 || random.chance(0.4)
  const [isListed, isPartial] = [random.chance(0.4), number % 2 === 1]
  const fee = () => random.pick([isPartial ? 0 : 33, 100, 333])
  const supply = sale_mode === 'fixed_price' ? {} : { supply: PRO_RATA.supply }
  const rounds = {
    allowlist: true,
    rounds: [fee(), fee()].map((deposit_fee_bps) => ({ supply: '3000000000000', deposit_fee_bps })),
  }
  const releases = [
    {},
    { lock_seconds: 300, release_bps: 2_500, vesting_seconds: 1_000 },
    { vesting_seconds: 2_000, release_bps: 0 },
  ]
  return {
    ...{ fails: number % 6 === 3 || random.chance(0.15), isOwn, isListed, isPartial, settles },
    body: {
      ...{ sale_mode, min: FIXED.min, max: FIXED.max, unsold: number % 2 === 0 ? 'return' : 'burn' },
      ...(isListed ? rounds : { ...supply, deposit_fee_bps: fee() }),
      ...(sale_mode === 'fixed_price' ? { price: FIXED.price, withdrawable: random.chance(0.8) } : {}),
      ...(settles !== 'raw' && random.chance(0.6) ? { pool: POOL } : random.pick(releases)),
      settle: settles === 'worker',
    },
  }
}

/** Answers what the ledger must have of it; `count` is told each act. */
export async function playRaise(books: RaiseBooks, random: Random, number: number, count: (what: string) => void) {
  const { chain, wallet, ok, round, land } = books
  const of = await books.token()
  const terms = termsOf(random, number)
  const { isOwn, isListed, isPartial, fails } = terms
  const creator = isOwn ? wallet : of.seller
  const ends_at = isoOf(of.now() + LASTS)
  const made = await (isOwn ? books.create(of.mint, { ...terms.body, ends_at }) : of.build({ ...terms.body, ends_at }))
  if (!isOwn) await land(made.transaction, [of.seller], isPartial)
  const { id } = made
  count(`${isOwn ? 'own' : 'foreign'} ${made.sale_mode}${fails ? ' fails' : ''}`)
  const buyers: Buyer[] = [wallet, of.buyer(), of.buyer(), of.buyer()].map((key) => ({
    key,
    round: isListed ? random.below(2) : 0,
  }))
  if (isListed) await openList()

  async function openList() {
    const entries = buyers.map(({ key, round: at }) => ({ wallet: addressOf(key), cap: FIXED.max, round: at + 1 }))
    await ok('POST', `/v2/raises/${id}/allowlist`, { entries })
    const body = { payer: addressOf(creator), url: 'https://sale.example.com/raise' }
    const opened = await ok('POST', `/v2/raises/${id}/openings`, { ...body, ...(isOwn && { mode: 'signed' }) })
    if (isOwn) await round()
    else await land(opened.transaction, [creator], isPartial)
    count('opened')
  }

  const read = () => of.read(id)
  const now = () => BigInt(chain.unixTimestamp())
  const placeOf = ({ key, round: at }: Buyer) => {
    const owner = addressOf(key)
    return { escrow: raiseEscrowAddress(id, owner, at), owner, payer: owner }
  }
  const escrowOf = (buyer: Buyer) => {
    const { escrow } = placeOf(buyer)
    return decodeRaiseEscrow(escrow, chain.account(escrow))
  }
  const opening = (mint: Mint, { publicKey }: Keypair) =>
    spl.createAssociatedTokenAccountIdempotentInstruction(
      publicKey,
      tokenAccountOf(mint, publicKey),
      publicKey,
      mint.mint,
      mint.program,
    )
  const compiled = (instructions: (TransactionInstruction | PlainInstruction)[], key: Keypair) =>
    Buffer.from(
      signed(
        instructions.map((one) => ('programId' in one ? one : sdk(one))),
        [key],
        { blockhash: chain.latestBlockhash().blockhash },
      ),
    ).toString('base64')

  /** What opens the escrow, with the proof that anyone can ask for. */
  async function joining(buyer: Buyer) {
    if (!isListed) return escrowInstruction(id, placeOf(buyer))
    const url = `${ORIGIN}/raise/${id}/${buyer.round}/${addressOf(buyer.key)}`
    const told = (await (await books.service.app.fetch(new Request(url))).json()) as {
      merkle_root_config: string
      deposit_cap: number
      proof: number[][]
    }
    return provenEscrowInstruction(id, placeOf(buyer), {
      ...{ round: buyer.round, cap: BigInt(told.deposit_cap), config: told.merkle_root_config },
      proof: told.proof.map((sibling) => Uint8Array.from(sibling)),
    })
  }

  /** The same act without this service. */
  async function ownInstructions(buyer: Buyer, verb: Verb, amount: bigint) {
    const [raise, place, { key }] = [read(), placeOf(buyer), buyer]
    const wrapped = tokenAccountOf(WSOL, key.publicKey)
    const to = { ...place, to: wrapped.toBase58() }
    const unwrap = spl.createCloseAccountInstruction(wrapped, key.publicKey, key.publicKey)
    const open = opening(WSOL, key)
    if (verb === 'claim') {
      const tokens = tokenAccountOf(of.tokenAccount, key.publicKey).toBase58()
      return [opening(of.tokenAccount, key), claimInstruction(raise, { ...place, to: tokens })]
    }
    if (verb === 'refund') return [open, refundInstruction(raise, to), unwrap]
    if (verb === 'withdraw') return [open, withdrawalInstruction(raise, to, amount), unwrap]
    const lamports = amount + feeOnTop(amount, roundOf(raise, buyer.round).feeBps)
    return [
      open,
      SystemProgram.transfer({ fromPubkey: key.publicKey, toPubkey: wrapped, lamports }),
      spl.createSyncNativeInstruction(wrapped),
      ...(escrowOf(buyer) === null ? [await joining(buyer)] : []),
      depositInstruction(raise, { ...place, from: to.to, amount }),
      unwrap,
    ]
  }

  async function act(buyer: Buyer, verb: Verb, amount = 0n, isEasy = false) {
    const { key } = buyer
    const mayPass = !isEasy && (isPartial || key === wallet)
    const [isBuilt, isPast] = [isEasy || random.chance(0.5), mayPass && random.chance(0.5)]
    const body = { buyer: addressOf(key), round: buyer.round + 1, ...(amount > 0n && { amount: String(amount) }) }
    const transaction = isBuilt
      ? (await ok('POST', `/v2/raises/${id}/${ROUTES[verb]}`, body)).transaction
      : compiled(await ownInstructions(buyer, verb, amount), key)
    await land(transaction, [key], isPast)
    count(`${verb} ${isPast ? 'past the service' : 'through it'}${key === wallet ? ' by the platform wallet' : ''}`)
  }

  const part = (least: bigint, most: bigint) => least + BigInt(Math.floor(random.next() * Number(most - least + 1n)))

  async function trade(buyer: Buyer) {
    const [raise, own] = [read(), escrowOf(buyer)]
    if (own !== null && random.chance(0.3)) {
      const { all, mostOfPart } = withdrawableNow(raise, own, now())
      const amount = mostOfPart > 1_000n && random.chance(0.6) ? part(1_000n, mostOfPart) : all
      if (all > 0n) return act(buyer, 'withdraw', amount)
    }
    const limits = depositLimits(raise, { ...buyer, deposited: own?.deposited ?? 0n }, now())
    const room = fails ? MIN - 1n - raise.deposited : limits.most
    const most = [limits.most, room, SOL].reduce((least, each) => (each < least ? each : least))
    if (limits.most > 0n && most > limits.least) await act(buyer, 'deposit', part(limits.least, most))
  }

  async function payOut(buyer: Buyer, isEasy = false) {
    const [raise, own, at] = [read(), escrowOf(buyer), now()]
    if (own === null) return
    const { deposit, fee } = refundableNow(raise, own, at)
    const claimable = claimableNow(raise, own, at)
    if (claimable.now > 0n) {
      if (own.claimed > 0n) count('claim of another part')
      await act(buyer, 'claim', 0n, isEasy)
    } else if (deposit + fee > 0n) await act(buyer, 'refund', 0n, isEasy)
  }

  /** Whoever settles it does one step. */
  async function settle(): Promise<boolean> {
    const { due } = await ok('GET', `/v2/raises/${id}`)
    if (due.every(({ by }: { by: string }) => by === 'buyers')) return true
    if (terms.settles === 'worker') {
      for (let i = 0; i < 2; i++) await round(60)
    } else if (terms.settles === 'request') {
      await ok('POST', `/v2/raises/${id}/settlements`, { payer: addressOf(creator), mode: 'signed' })
      await round()
    } else {
      const raw = terms.settles === 'raw' ? ownSettlement() : null
      const path = `/v2/raises/${id}/settlements`
      const built = raw ?? { key: creator, ...(await ok('POST', path, { payer: addressOf(creator) })) }
      const isPast = (isOwn || isPartial) && random.chance(0.7)
      await land(built.transaction, [built.key], isPast || (isOwn && built.key !== creator))
    }
    return false
  }

  /** One act of the creator after another, and what anyone may do by a buyer; null if nothing is left of them. */
  function ownSettlement() {
    const raise = read()
    const { returned, raised, fees, unsold } = creatorDue(raise, now())
    const [quotes = '', tokens = ''] = [WSOL, of.tokenAccount].map((mint) =>
      tokenAccountOf(mint, creator.publicKey).toBase58(),
    )
    const by = (key: Keypair, ...instructions: (TransactionInstruction | PlainInstruction)[]) => ({
      ...{ key, transaction: compiled(instructions, key) },
    })
    if (returned > 0n) return by(creator, creatorWithdrawalInstruction(raise, 'failed', tokens))
    if (raised > 0n)
      return by(creator, opening(WSOL, creator), creatorWithdrawalInstruction(raise, 'completed', quotes))
    if (fees > 0n) return by(creator, opening(WSOL, creator), feeInstruction(raise, quotes))
    if (unsold === 0n) return null
    count('unsold by a buyer')
    return by(buyers[1]!.key, unsoldInstruction(raise, tokens))
  }

  for (let steps = random.between(6, 12); steps > 0; steps--) {
    if (raiseStateAt(read(), now()) === 'ongoing') await trade(random.pick(buyers))
  }
  for (const buyer of fails ? [] : buyers) {
    const [raise, own] = [read(), escrowOf(buyer)]
    const { least, most } = depositLimits(raise, { ...buyer, deposited: own?.deposited ?? 0n }, now())
    const lacking = MIN - raise.deposited + 1_000n
    if (lacking > 1_000n && most >= lacking) await act(buyer, 'deposit', lacking > least ? lacking : least)
  }
  of.end(id)
  const state = raiseStateAt(read(), now())
  expect(state).toBe(fails ? 'failed' : 'completed')
  for (let steps = 6; steps > 0; steps--) {
    await round(random.pick([1, 60, 400]))
    if (random.chance(0.5)) await settle()
    if (random.chance(0.7)) await payOut(random.pick(buyers))
  }
  const left = Number(read().vestingEndsAt - now()) + 1
  if (left > 0) await round(left)
  for (let steps = 0; !(await settle()); steps++) expect(steps).toBeLessThan(10)
  count(`settled: ${terms.settles}`)
  for (const isLast of [false, true]) for (const buyer of buyers) await payOut(buyer, isLast)
  return { id, raise: read(), isWhole: !isPartial, deposit: BigInt(made.deposit) }
}

export type PlayedRaise = Awaited<ReturnType<typeof playRaise>>
