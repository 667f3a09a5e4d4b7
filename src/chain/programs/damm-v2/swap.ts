/** Builds a buy or a sell, including wrapping and unwrapping of SOL. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import { INSTRUCTIONS_SYSVAR, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { openDeriver } from '../derived-addresses.ts'
import { dammV2Instruction, loadSdk } from './program.ts'
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
  const { PublicKey } = await import('@solana/web3.js')
  const payer = new PublicKey(input.payer)
  const accounts = await tokenAccounts(input.pool, payer)
  const { side, amount, minimumOut, pool } = input
  return compileUnsigned(input, [
    ...accounts.opening,
    ...(side === 'buy' ? await wrapping(payer, pool.tokenBMint, accounts.tokenB, amount) : []),
    ...(side === 'sell' ? await wrapping(payer, pool.tokenAMint, accounts.tokenA, amount) : []),
    await dammV2SwapInstruction({ payer, accounts, side, amount, minimumOut, pool }),
    ...accounts.closing,
  ])
}

export interface SwapParts extends SwapOrder {
  payer: PublicKey
  accounts: TokenAccounts
  minimumOut: bigint
  pool: PoolAccounts & Pick<DammV2Pool, 'baseFeeMode'>
}

export async function dammV2SwapInstruction({ payer, accounts, side, amount, minimumOut, pool }: SwapParts) {
  const [{ PublicKey }, { toBn }] = await Promise.all([import('@solana/web3.js'), loadSdk()])
  const { tokenA, tokenB } = accounts
  const [inputTokenAccount, outputTokenAccount] = side === 'buy' ? [tokenB, tokenA] : [tokenA, tokenB]
  const instruction = await dammV2Instruction(
    'swap',
    [{ amountIn: toBn(amount), minimumAmountOut: toBn(minimumOut) }],
    {
      ...(await poolKeys(pool)),
      payer,
      inputTokenAccount,
      outputTokenAccount,
    },
  )
  if (pool.baseFeeMode === RATE_LIMITER) {
    // The rate limiter checks for other swaps in the same transaction.
    const pubkey = new PublicKey(INSTRUCTIONS_SYSVAR)
    instruction.keys.push({ pubkey, isSigner: false, isWritable: false })
  }
  return instruction
}

export async function poolKeys(pool: PoolAccounts) {
  const { PublicKey } = await import('@solana/web3.js')
  const key = (address: string) => new PublicKey(address)
  return {
    pool: key(pool.address),
    tokenAMint: key(pool.tokenAMint),
    tokenBMint: key(pool.tokenBMint),
    tokenAVault: key(pool.tokenAVault),
    tokenBVault: key(pool.tokenBVault),
    tokenAProgram: key(pool.tokenAProgram),
    tokenBProgram: key(pool.tokenBProgram),
  }
}

export interface TokenAccounts {
  tokenA: PublicKey
  tokenB: PublicKey
  /** Instructions that open missing accounts. */
  opening: TransactionInstruction[]
  /** Instructions that unwrap SOL. */
  closing: TransactionInstruction[]
}

/**
 * Returns the owner's associated token accounts for both sides of a pool. By default the owner pays, because it can
 * reclaim their rent.
 */
export async function tokenAccounts(pool: PoolAccounts, owner: PublicKey, funder = owner): Promise<TokenAccounts> {
  const [spl, keys, deriver] = await Promise.all([import('@solana/spl-token'), poolKeys(pool), openDeriver()])
  const accountOf = (mint: PublicKey, program: PublicKey) => {
    const address = deriver.tokenAccount(mint, owner, program)
    const open = spl.createAssociatedTokenAccountIdempotentInstruction(funder, address, owner, mint, program)
    const close = spl.createCloseAccountInstruction(address, owner, owner, [], program)
    return { address, open, closing: mint.toBase58() === WRAPPED_SOL ? [close] : [] }
  }
  const a = accountOf(keys.tokenAMint, keys.tokenAProgram)
  const b = accountOf(keys.tokenBMint, keys.tokenBProgram)
  return {
    tokenA: a.address,
    tokenB: b.address,
    opening: [a.open, b.open],
    closing: [...a.closing, ...b.closing],
  }
}

/** Transfers lamports into a wrapped SOL account. Returns no instructions for other mints. */
export async function wrapping(
  payer: PublicKey,
  mint: string,
  account: PublicKey,
  lamports: bigint,
): Promise<TransactionInstruction[]> {
  if (mint !== WRAPPED_SOL) return []
  const [{ SystemProgram }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  return [
    SystemProgram.transfer({ fromPubkey: payer, toPubkey: account, lamports }),
    spl.createSyncNativeInstruction(account),
  ]
}
