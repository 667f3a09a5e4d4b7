/** Builds a buy or a sell, including wrapping and unwrapping of SOL. */
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { associatedTokenAddress } from '../../../solana/program-addresses.ts'
import { INSTRUCTIONS_SYSVAR, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { DAMM_V2 } from '../../../solana/programs/damm-v2.ts'
import { openingInstruction, unwrappingInstructions, wrappingInstructions } from '../../../solana/token-acts.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import { checkDammV2Amount, type SwapOrder } from './quote.ts'
import type { DammV2Pool } from './state.ts'

/** A pool's accounts, by the names in the program's instructions. */
export type PoolAccounts = Pick<
  DammV2Pool,
  'address' | 'tokenAMint' | 'tokenBMint' | 'tokenAVault' | 'tokenBVault' | 'tokenAProgram' | 'tokenBProgram'
>

export interface DammV2Swap extends Envelope, SwapOrder {
  pool: PoolAccounts & Pick<DammV2Pool, 'baseFeeMode'>
  /** Least output in raw units. With less the transaction fails with ExceededSlippage. */
  minimumOut: bigint
}

const RATE_LIMITER = 2

/**
 * Trades for the payer, and opens missing token accounts. The payer's wrapped SOL account is closed at the end, and its
 * whole balance becomes SOL. Throws bad_request for invalid amounts.
 */
export async function buildDammV2Swap(input: DammV2Swap): Promise<UnsignedTransaction> {
  checkDammV2Amount(input.amount)
  if (input.minimumOut < 0n) throw badRequest('minimum_out must not be below 0', { param: 'minimum_out' })
  const { side, amount, minimumOut, pool, payer } = input
  const accounts = await tokenAccounts(pool, payer)
  return compileUnsigned(input, [
    ...accounts.opening,
    ...(side === 'buy' ? await wrapping(payer, pool.tokenBMint, accounts.tokenB, amount) : []),
    ...(side === 'sell' ? await wrapping(payer, pool.tokenAMint, accounts.tokenA, amount) : []),
    await dammV2SwapInstruction({ payer, accounts, side, amount, minimumOut, pool }),
    ...accounts.closing,
  ])
}

interface SwapParts extends SwapOrder {
  payer: string
  accounts: TokenAccounts
  minimumOut: bigint
  pool: PoolAccounts & Pick<DammV2Pool, 'baseFeeMode'>
}

export async function dammV2SwapInstruction({ payer, accounts, side, amount, minimumOut, pool }: SwapParts) {
  const { tokenA, tokenB } = accounts
  const own =
    side === 'buy'
      ? { input_token_account: tokenB, output_token_account: tokenA }
      : { input_token_account: tokenA, output_token_account: tokenB }
  const roles = { ...poolRoles(pool), ...own, payer }
  const swap = DAMM_V2.instruction('swap', roles, { amount_in: amount, minimum_amount_out: minimumOut })
  if (pool.baseFeeMode === RATE_LIMITER) {
    // The rate limiter checks for other swaps in the same transaction.
    swap.accounts.push({ address: INSTRUCTIONS_SYSVAR, isSigner: false, isWritable: false })
  }
  return (await sdkInstructions())(swap)
}

/** The accounts of a pool by their roles in the program's instructions. */
export const poolRoles = (pool: PoolAccounts) => ({
  pool: pool.address,
  token_a_mint: pool.tokenAMint,
  token_b_mint: pool.tokenBMint,
  token_a_vault: pool.tokenAVault,
  token_b_vault: pool.tokenBVault,
  token_a_program: pool.tokenAProgram,
  token_b_program: pool.tokenBProgram,
})

export interface TokenAccounts {
  tokenA: string
  tokenB: string
  /** Instructions that open missing accounts. */
  opening: TransactionInstruction[]
  /** Instructions that unwrap SOL. */
  closing: TransactionInstruction[]
}

/**
 * Returns the owner's associated token accounts for both sides of a pool. By default the owner pays, because it can
 * reclaim their rent.
 */
export async function tokenAccounts(pool: PoolAccounts, owner: string, funder = owner): Promise<TokenAccounts> {
  const sdk = await sdkInstructions()
  const ownOf = (mint: string, program: string) => {
    const account = associatedTokenAddress(owner, mint, program)
    return { wallet: owner, account, mint, program, isOpen: false }
  }
  const [a, b] = [ownOf(pool.tokenAMint, pool.tokenAProgram), ownOf(pool.tokenBMint, pool.tokenBProgram)]
  return {
    tokenA: a.account,
    tokenB: b.account,
    opening: [a, b].map((own) => sdk(openingInstruction({ ...own, payer: funder }))),
    closing: [a, b].flatMap(unwrappingInstructions).map(sdk),
  }
}

/** Transfers lamports into a wrapped SOL account. Returns no instructions for other mints. */
export async function wrapping(
  payer: string,
  mint: string,
  account: string,
  lamports: bigint,
): Promise<TransactionInstruction[]> {
  if (mint !== WRAPPED_SOL) return []
  return wrappingInstructions({ wallet: payer, account }, lamports).map(await sdkInstructions())
}
