/** Reads what is due now for the creator of a raise, and builds as much of it as one transaction holds. */
import type { TransactionInstruction } from '@solana/web3.js'
import type { Api } from '../../api/index.ts'
import type { SettlementAct } from '../../api/raises.ts'
import type { Input } from '../../api/route.ts'
import {
  addToRaisedPool,
  freshPool,
  openRaisedPool,
  RAISED_POOL_UNITS,
  readPairPool,
} from '../../chain/programs/damm-v2/index.ts'
import * as presale from '../../chain/programs/presale/index.ts'
import { sdkInstructions } from '../../chain/programs/sdk-instruction.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import { compileAnySize, type Envelope, roomOf, type UnsignedTransaction } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { isoSeconds } from '../../solana/lock-schedule.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PRESALE } from '../../solana/programs/presale.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { dueActs, type SettlementState } from '../../solana/raise-due.ts'
import type { PoolPlan } from '../../solana/raise-pool.ts'
import { openingInstruction } from '../../solana/token-acts.ts'
import { feeInEpoch, feeOn } from '../../solana/transfer-fees.ts'
import { findRaise, type RaiseRow, updateRaise } from '../../store/resources/raises.ts'
import type { Tx } from '../../store/store.ts'
import { act, type Plan, type Summary } from '../act.ts'
import { newKey } from '../building.ts'
import { fault } from '../locks/checks.ts'
import { type Said, warned } from '../sentences.ts'
import { readPurse, type Side } from './purse.ts'
import { onRaise, requireCreator, requireRaise } from './require-raise.ts'

type Route = Api['raises']['settle']

export const planOf = (row: Pick<RaiseRow, 'pool_json'> | null): PoolPlan | null =>
  row === null || row.pool_json === null ? null : JSON.parse(row.pool_json)

export type Settlement = Awaited<ReturnType<typeof readSettlement>>

/** Takes one call for a raise without a plan, and up to three more for its pool. Throws internal_error when the node fails. */
export async function readSettlement(
  chain: Context['chain'],
  { raise, at }: { raise: presale.Raise; at: ChainTime },
  plan: PoolPlan | null,
) {
  const { address, mint, quoteMint: quote, creator } = raise
  const [purse, pool] = await Promise.all([
    readPurse(chain, raise, creator, [presale.fixedPriceArgsAddress(address)]),
    plan === null ? null : readPairPool(chain, { mint, quote, creator }),
  ])
  const { tokens, quotes, others } = purse
  const state: SettlementState = {
    raise,
    plan,
    transferFee: feeInEpoch(tokens.token?.extensions ?? null, at.epoch),
    pool,
    tokens: tokens.state?.amount ?? 0n,
    closesPrice: PRESALE.decode('fixed_price_presale_extra_args', others[0] ?? null)?.owner === creator,
    at: BigInt(at.unixSeconds),
  }
  return { state, due: dueActs(state), tokens, quotes }
}

/** Acts that are done together or not at all. */
interface Part {
  acts: readonly SettlementAct[]
  units: number
  instructions: TransactionInstruction[]
  /** Generated keys, which sign. */
  secretKeys?: readonly Uint8Array[]
  /** Only if the part before it is in the transaction, too. */
  follows?: true
}

export const settleRaise: Operation = (context, input) =>
  act<Route>(
    'raise.settle',
    planSettlement,
    input.mode === 'signed' && input.skip_pool ? { record: stopSettling } : {},
  )(context, input)
type Operation = ReturnType<typeof act<Route>>

/** Whoever settles without the pool has decided against it, so the worker must not open it later. */
const stopSettling = (tx: Tx, summary: object) => updateRaise(tx, (summary as Summary<Route>).id, { settle: 0 })

/** Throws not_found without a raise, bad_request if nothing is due or the planned pool cannot open. */
export async function planSettlement(
  context: Pick<Context, 'chain' | 'store'> & Partial<Pick<Context, 'vaultActing'>>,
  { id, payer, skip_pool }: Pick<Input<Route>, 'id' | 'payer' | 'skip_pool'>,
): Promise<Plan<Summary<Route>>> {
  const found = await requireRaise(context, id)
  const { raise } = found
  requireCreator(raise, payer, 'settle')
  const plan = planOf(await findRaise(context.store.db, id))
  const settlement = await readSettlement(context.chain, found, skip_pool ? null : plan)
  requireDue(settlement)
  const parts = await partsOf(context, settlement)
  let chosen = parts
  return {
    ...onRaise(id),
    fallbackUnits: parts.reduce((sum, { units }) => sum + units, 0),
    build: async (envelope) => {
      const fitted = await compileFitting(envelope, parts)
      chosen = fitted.chosen
      return { ...fitted.built, secretKeys: chosen.flatMap(({ secretKeys = [] }) => secretKeys) }
    },
    summary: () => summaryOf(settlement, parts, chosen),
  }
}

/** Throws bad_request if nothing can be done, and if the withdrawal would go without the pool that it was meant for. */
function requireDue({ state: { raise, at }, due: { acts, blocked } }: Settlement): void {
  if (blocked !== null && (acts.length === 0 || acts.includes('withdraw'))) {
    throw fault('skip_pool', `${blocked}. With skip_pool: true everything else is settled, without the pool`, {
      blocked,
    })
  }
  if (acts.length > 0) return
  const { address, endsAt } = raise
  const ends_at = isoSeconds(endsAt)
  const [reason, message] =
    at < endsAt
      ? ['not_ended', `Nothing is due for the creator of the raise ${address} before it ends, at ${ends_at}`]
      : ['settled', `The raise ${address} is settled: nothing is left for its creator`]
  throw fault('id', message, { reason, ends_at })
}

/** The parts in the order in which they are done. */
async function partsOf(context: Partial<Pick<Context, 'vaultActing'>>, settlement: Settlement): Promise<Part[]> {
  const { state, due, quotes, tokens } = settlement
  const { raise } = state
  const sdk = await sdkInstructions()
  const missing = new Set([tokens, quotes].filter(({ isOpen }) => !isOpen))
  /** Opens an account of the creator where it is first needed. */
  const opening: Opening = (side) => (missing.delete(side) ? [sdk(openingInstruction(side))] : [])
  const part = (act: SettlementAct, built: PlainInstruction, paid?: Side): Part[] => {
    if (!due.acts.includes(act)) return []
    const units = paid === undefined ? presale.RAISE_UNITS.close : presale.RAISE_UNITS.payout
    return [{ acts: [act], units, instructions: [...(paid ? opening(paid) : []), sdk(built)] }]
  }
  const closing = presale.closeFixedPriceInstruction(presale.fixedPriceArgsAddress(raise.address), raise.creator)
  return [
    ...part('withdraw', presale.creatorWithdrawalInstruction(raise, 'completed', quotes.account), quotes),
    ...part('withdraw_tokens', presale.creatorWithdrawalInstruction(raise, 'failed', tokens.account), tokens),
    ...(await poolPart(context, settlement, opening)),
    ...part('collect_fee', presale.feeInstruction(raise, quotes.account), quotes),
    ...part('unsold', presale.unsoldInstruction(raise, tokens.account), tokens),
    ...part('close_price', closing),
  ]
}

type Opening = (side: Side) => TransactionInstruction[]

const poolOf = ({ tokens, quotes }: Settlement) =>
  freshPool({ mint: tokens.mint, program: tokens.program, quote: quotes.mint, quoteProgram: quotes.program })

async function poolPart(
  context: Partial<Pick<Context, 'vaultActing'>>,
  settlement: Settlement,
  opening: Opening,
): Promise<Part[]> {
  const { raise, plan, pool } = settlement.state
  const { pool: of, opensAt, acts } = settlement.due
  if (of === null || plan === null) return []
  const own = { creator: raise.creator, pool: poolOf(settlement), of }
  const part = {
    acts: acts.filter((act) => act === 'open_pool' || act === 'add_liquidity' || act === 'lock_liquidity'),
    ...(acts.includes('withdraw') ? { follows: true as const } : {}),
  }
  if (pool !== null && pool.position !== null) {
    const instructions = await addToRaisedPool({ ...own, position: pool.position })
    return [{ ...part, units: RAISED_POOL_UNITS.add, instructions }]
  }
  const key = newKey(context)
  const opened = await openRaisedPool({
    ...{ ...own, positionNft: key.address, feeBps: plan.fee_bps, wraps: opensAt !== null },
    ...(opensAt === null ? {} : { activationPoint: opensAt }),
  })
  const instructions = [...opening(settlement.quotes), ...opened]
  return [{ ...part, units: RAISED_POOL_UNITS.open, instructions, secretKeys: [key.secretKey] }]
}

/** Bytes that guards of a wallet and its tokens take. */
const ROOM_FOR_GUARDS = 160
const MAIN_ACTS: readonly SettlementAct[] = ['withdraw', 'withdraw_tokens', 'open_pool', 'add_liquidity']

/** Adds each part that still fits, small ones not in place of guards. What has no room is left to the next request. */
async function compileFitting(
  envelope: Envelope,
  parts: readonly Part[],
): Promise<{ built: UnsignedTransaction; chosen: Part[] }> {
  const room = roomOf(envelope)
  let chosen: Part[] = []
  let built: UnsignedTransaction | null = null
  for (const [i, part] of parts.entries()) {
    const before = parts[i - 1]
    if (part.follows && before !== undefined && !chosen.includes(before)) continue
    const more = [...chosen, part]
    const compiled = await compileAnySize(
      envelope,
      more.flatMap(({ instructions }) => instructions),
    )
    const isMain = built === null || part.acts.some((act) => MAIN_ACTS.includes(act))
    const hasGuards = envelope.isGuarded && built !== null && built.transaction.length <= room - ROOM_FOR_GUARDS
    const most = hasGuards && !isMain ? room - ROOM_FOR_GUARDS : room
    if (compiled.transaction.length > most) continue
    ;[chosen, built] = [more, compiled]
  }
  if (built === null) throw new Error('no part of a settlement fits into a transaction')
  return { built, chosen }
}

async function summaryOf(
  settlement: Settlement,
  parts: readonly Part[],
  chosen: readonly Part[],
): Promise<Summary<Route>> {
  const { state, due } = settlement
  const { raise, transferFee, at, plan } = state
  const acts = chosen.flatMap((part) => part.acts)
  const gains = presale.creatorDue(raise, at)
  const when = (act: SettlementAct, amount: bigint) => (acts.includes(act) ? amount : 0n)
  const arriving = (amount: bigint) => amount - feeOn(transferFee, amount)
  const returned = raise.unsold === 'return' ? gains.unsold : 0n
  const opens = acts.includes('open_pool') || acts.includes('add_liquidity')
  return {
    id: raise.address,
    acts,
    left: parts.filter((part) => !chosen.includes(part)).flatMap((part) => part.acts),
    quote: String(when('withdraw', gains.raised) + when('collect_fee', gains.fees)),
    tokens: String(arriving(when('unsold', returned)) + arriving(when('withdraw_tokens', gains.returned))),
    pool_address: opens ? poolOf(settlement).address : (state.pool?.address ?? null),
    pool_quote: String(opens ? (due.pool?.quote ?? 0n) : 0n),
    pool_tokens: String(opens ? (due.pool?.tokens ?? 0n) : 0n),
    locked_bps: acts.includes('lock_liquidity') ? (plan?.locked_bps ?? 0) : 0,
    ...warned(settlementWarnings(settlement, acts)),
  }
}

/** Says what the settler should know beside the amounts. */
function settlementWarnings({ state, due, quotes }: Settlement, acts: readonly SettlementAct[]): Said[] {
  const { raise, plan } = state
  const planned = plan === null ? 0n : (raise.deposited * BigInt(plan.quote_bps)) / 10_000n
  const opens = acts.includes('open_pool') && due.opensAt === null
  return [
    due.blocked ?? false,
    // Rounding leaves some units, a small reserve much more.
    opens &&
      due.pool !== null &&
      due.pool.quote * 1_000n < planned * 999n &&
      `The reserve is too small for all of the quote: ${due.pool.quote} of ${planned} raw units go into the pool`,
    acts.includes('withdraw') &&
      raise.quoteMint === WRAPPED_SOL &&
      `What does not go into the pool arrives as wrapped SOL in ${quotes.account}`,
  ]
}
