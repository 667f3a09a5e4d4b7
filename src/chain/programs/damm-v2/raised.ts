/** Opens the pool of a raise from what its creator holds, adds what is raised, and locks a part of it for good. */
import type { TransactionInstruction } from '@solana/web3.js'
import { FULL_RANGE, type RaisePool } from '../../../solana/raise-pool.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { initializePool, lockPosition } from './opening.ts'
import { liquidityAddition } from './position-acts.ts'
import type { DammV2Position } from './positions.ts'
import { type PoolAccounts, tokenAccounts, wrapping } from './swap.ts'

/** Compute limits if the transaction cannot be simulated, above the highest measured costs. */
export const RAISED_POOL_UNITS = { open: 300_000, add: 200_000 } as const

interface RaisedPool {
  /** Pays, signs, and holds the position. Both of its token accounts exist. */
  creator: string
  pool: PoolAccounts
  of: RaisePool
}

export interface RaisedPoolOpening extends RaisedPool {
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
  return [
    ...wrapped,
    opened,
    ...(of.locked > 0n ? [await lockPosition({ creator, positionNft }, pool, of.locked)] : []),
  ]
}

export interface RaisedPoolAddition extends RaisedPool {
  position: Pick<DammV2Position, 'position' | 'positionNftAccount' | 'nftMint'>
}

/** Fails with ExceededSlippage if the price has moved since the pool opened. */
export async function addToRaisedPool(addition: RaisedPoolAddition): Promise<TransactionInstruction[]> {
  const { creator, pool, of, position } = addition
  const [sdk, accounts] = await Promise.all([sdkInstructions(), tokenAccounts(pool, creator)])
  const maximum = { amountA: of.tokens, amountB: of.quote }
  const added = sdk(liquidityAddition({ payer: creator, pool, position, liquidity: of.liquidity, maximum }, accounts))
  if (of.locked === 0n) return [added]
  return [added, await lockPosition({ creator, positionNft: position.nftMint }, pool, of.locked)]
}
