/** Builds the transactions that claim the fees of a wallet's positions in a pool. */

import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { POSITIONS_PER_CLAIM } from '../../../solana/constants.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import type { TransactionConfig } from '../../../solana/transaction-config.ts'
import { compileUnsigned, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import type { DammV2Position } from './positions.ts'
import { chunksOf } from './state.ts'
import { type PoolAccounts, poolRoles, tokenAccounts } from './swap.ts'

export interface PositionClaim {
  /** Address that holds the position NFTs, signs, and receives the fees. */
  owner: string
  /** Address that only pays the fee. It is the owner when left out. */
  payer?: string
  /** Address that signs for the owner as the delegate of all positions, and pays. */
  delegate?: string | undefined
  pool: PoolAccounts
  positions: readonly Pick<DammV2Position, 'position' | 'positionNftAccount'>[]
  recentBlockhash: string
  /** Limits and priority fee of transactions of version 1. */
  messageConfig?: TransactionConfig | undefined
  /** Instructions before those of each transaction: compute limit and price of version 0. */
  before?: readonly TransactionInstruction[]
}

/** Returns the owner's accounts that a claim opens if they are missing. */
export async function claimAccounts(pool: PoolAccounts, owner: string): Promise<string[]> {
  const { tokenA, tokenB } = await tokenAccounts(pool, owner)
  return [tokenA, tokenB]
}

/** Returns how many positions fit in one claim beside compute limit and price. */
export function positionsPerClaim({ owner, payer = owner }: Pick<PositionClaim, 'owner' | 'payer'>): number {
  return payer === owner ? POSITIONS_PER_CLAIM.own : POSITIONS_PER_CLAIM.other
}

/**
 * Claims all fees of the positions, `positionsPerClaim` per transaction, in any order. The owner pays for missing token
 * accounts. Its wrapped SOL account is closed, so its rent and earlier balance become SOL. A delegate pays for the
 * owner's missing accounts, and SOL remains wrapped in them. Throws bad_request without positions.
 */
export async function buildPositionClaim(input: PositionClaim): Promise<UnsignedTransaction[]> {
  const { owner, delegate, pool, positions, recentBlockhash, messageConfig, before = [] } = input
  const payer = input.payer ?? delegate ?? owner
  if (positions.length === 0) {
    throw badRequest(`${owner} has no position to claim from in the pool ${pool.address}`, { param: 'address' })
  }
  return Promise.all(
    chunksOf(positions, positionsPerClaim({ owner, payer })).map(async (part) =>
      compileUnsigned(
        { payer, recentBlockhash, messageConfig, before },
        await claimInstructions({ owner, delegate, pool, positions: part }),
      ),
    ),
  )
}

/** Opens missing token accounts, claims, and unwraps SOL, which only the owner can. */
export async function claimInstructions({
  owner,
  delegate,
  pool,
  positions,
}: Pick<PositionClaim, 'owner' | 'delegate' | 'pool' | 'positions'>): Promise<TransactionInstruction[]> {
  const signer = delegate ?? owner
  const [{ tokenA, tokenB, opening, closing }, sdk] = await Promise.all([
    tokenAccounts(pool, owner, signer),
    sdkInstructions(),
  ])
  const claims = positions.map(({ position, positionNftAccount }) => {
    const own = { position, position_nft_account: positionNftAccount, token_a_account: tokenA, token_b_account: tokenB }
    return sdk(DAMM_V2.instruction('claim_position_fee', { ...poolRoles(pool), ...own, signer }, {}))
  })
  return [...opening, ...claims, ...(delegate === undefined ? closing : [])]
}
