/** Opens the pool of a raise from what its creator holds, adds what is raised, and locks a part of it for good. */
import type { TransactionInstruction } from '@solana/web3.js'
import { ByteReader } from '../../../solana/byte-reader.ts'
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import type { PairPool } from '../../../solana/raise-due.ts'
import { FULL_RANGE, type RaisePool } from '../../../solana/raise-pool.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { dammV2PoolAddress, positionAddresses } from './addresses.ts'
import { initializePool } from './opening.ts'
import { liquidityAddition, permanentLock } from './position-acts.ts'
import { type DammV2Position, readPositions } from './positions.ts'
import { readTogether } from './state.ts'
import { type PoolAccounts, tokenAccounts, wrapping } from './swap.ts'

/** Compute limits if the transaction cannot be simulated, above the highest measured costs. */
export const RAISED_POOL_UNITS = { open: 300_000, add: 200_000 } as const

interface RaisedPool {
  /** Pays, signs, and holds the position. Both of its token accounts exist. */
  creator: string
  pool: PoolAccounts
  of: RaisePool
}

interface RaisedPoolOpening extends RaisedPool {
  /** Address of a fresh key, which signs too. */
  positionNft: string
  feeBps: number
  /** When trading begins, in Unix seconds; at once without it. */
  activationPoint?: bigint
  /** Whether SOL is wrapped for it, because nothing is raised yet. */
  wraps?: boolean
}

/** A raised quote is in the creator's token account, so nothing is wrapped. */
export async function openRaisedPool(opening: RaisedPoolOpening): Promise<TransactionInstruction[]> {
  const { creator, pool, of, positionNft, activationPoint, wraps = false } = opening
  const accounts = await tokenAccounts(pool, creator)
  const wrapped = wraps ? await wrapping(creator, pool.tokenBMint, accounts.tokenB, of.quote) : []
  const opened = await initializePool(opening, pool, { ...FULL_RANGE, ...of }, accounts, activationPoint)
  return [...wrapped, opened, ...(await locking({ creator, pool, of, position: positionAddresses(positionNft) }))]
}

interface RaisedPoolAddition extends RaisedPool {
  position: Pick<DammV2Position, 'position' | 'positionNftAccount'>
}

/** Fails with ExceededSlippage if the price has moved since the pool opened. */
export async function addToRaisedPool(addition: RaisedPoolAddition): Promise<TransactionInstruction[]> {
  const { creator, pool, of, position } = addition
  const [sdk, accounts] = await Promise.all([sdkInstructions(), tokenAccounts(pool, creator)])
  const maximum = { amountA: of.tokens, amountB: of.quote }
  const added = liquidityAddition({ payer: creator, pool, position, liquidity: of.liquidity, maximum }, accounts)
  return [sdk(added), ...(await locking(addition))]
}

/** Locks the planned part of the liquidity for good. */
async function locking({ creator: payer, pool, of, position }: RaisedPoolAddition): Promise<TransactionInstruction[]> {
  const liquidity = of.locked
  return liquidity === 0n ? [] : [permanentLock({ payer, pool, position, liquidity })].map(await sdkInstructions())
}

/**
 * Reads the only custom pool of a token and its quote, and the position of a raise's creator with the most liquidity that
 * can be locked, because anybody can give it others; null without a pool. Throws internal_error when the node fails.
 */
export async function readPairPool(
  node: NodeCalls,
  { mint, quote, creator }: { mint: string; quote: string; creator: string },
): Promise<PairPool | null> {
  const address = dammV2PoolAddress({ mint, quote })
  const { accounts } = await readTogether(node, 'Reading the pool of a raise', [address])
  const fields = DAMM_V2.decode('pool', accounts[0] ?? null)
  if (fields === null) return null
  const held = fields.creator === creator ? await readPositions(node, address, creator) : []
  const freest = held.reduce<DammV2Position | null>(
    (most, each) => (most === null || each.unlockedLiquidity > most.unlockedLiquidity ? each : most),
    null,
  )
  return {
    address,
    creator: fields.creator,
    firstPrice: fields.init_sqrt_price,
    price: fields.sqrt_price,
    range: { lowest: fields.sqrt_min_price, highest: fields.sqrt_max_price },
    fee: new ByteReader(fields.data).u64(),
    feeMode: fields.collect_fee_mode,
    activationType: fields.activation_type,
    activationPoint: fields.activation_point,
    isPlain: isPlain(fields),
    locked: fields.permanent_lock_liquidity,
    position: freest && { ...freest, liquidity: freest.unlockedLiquidity },
  }
}

type PoolFields = NonNullable<ReturnType<typeof DAMM_V2.decode<'pool'>>>
/** Size of the first fee, which schedules and limits of it follow. */
const CLIFF_FEE_BYTES = 8

const isPlain = ({ data, initialized, compounding_fee_bps, whitelisted_vault }: PoolFields): boolean =>
  data.subarray(CLIFF_FEE_BYTES).every((byte) => byte === 0) &&
  initialized === 0 &&
  compounding_fee_bps === 0 &&
  whitelisted_vault === SYSTEM_PROGRAM
