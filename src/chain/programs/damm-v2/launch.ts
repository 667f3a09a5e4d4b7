/** Builds the launch of a token in its own pool: the mint, then the pool that receives the whole supply. */

import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { TOKEN_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { buildTokenCreation, tokenCreationInstructions } from '../tokens/index.ts'
import { poolKey, vaultKey } from './addresses.ts'
import { givePlatformShare, lockPosition } from './lock.ts'
import { initializePool, LEAST_SOL, poolOpeningOf } from './opening.ts'
import { dammV2SwapInstruction, type PoolAccounts, type TokenAccounts, tokenAccounts, wrapping } from './swap.ts'
import type { SingleSidedLaunch } from './types.ts'

export interface SingleSidedPool extends SingleSidedLaunch {
  /** Tip for a relay at the end of the last transaction, or null for none. */
  tip: { account: string; lamports: bigint } | null
  recentBlockhash: string
  /** Micro-lamports for each compute unit. The price is left out when it is 0 or not set. */
  computeUnitPrice?: bigint
}

/**
 * Fixed limits, because the second transaction cannot be simulated before the first has landed. They are half more
 * than measured in a few dozen launches, since the cost of deriving addresses varies.
 */
export const DAMM_V2_LAUNCH_UNITS = {
  token: 120_000,
  pool: 260_000,
  poolWithBuy: 290_000,
  sharedPool: 370_000,
  sharedPoolWithBuy: 400_000,
} as const

/**
 * Returns two transactions to land in order: the mint with fixed Metaplex metadata and no authorities, then the pool
 * against SOL with the whole supply. For room, a platform part moves wrapping and the tip to the first. Throws
 * bad_request naming the field for what the programs refuse.
 */
export async function buildSingleSidedPool(input: SingleSidedPool): Promise<UnsignedTransaction[]> {
  const { computeUnitPrice, platform, recentBlockhash } = input
  const [{ wrapped, opened }, tip] = [await poolInstructions(input), await dammV2TipInstructions(input)]
  const ahead = platform === null ? [] : [...wrapped, ...tip]
  const instructions = platform === null ? [...wrapped, ...opened] : opened
  const before = await budget(DAMM_V2_LAUNCH_UNITS[launchKindOf(input)], computeUnitPrice)
  const after = platform === null ? tip : []
  return [
    await mintWith(input, ahead),
    await compileUnsigned({ payer: input.creator, recentBlockhash, before, after }, instructions),
  ]
}

/**
 * Builds the same launch as a single transaction of version 1, so that all of it lands or nothing. The payer is the
 * creator. Throws like `buildSingleSidedPool`.
 */
export async function buildWholeSingleSidedPool(input: Envelope & SingleSidedLaunch): Promise<UnsignedTransaction> {
  const { wrapped, opened } = await poolInstructions(input)
  return compileUnsigned(input, [...(await tokenCreationInstructions(tokenOf(input))), ...wrapped, ...opened])
}

/** Returns the compute limit of a single transaction that cannot run yet. */
export const wholePoolUnits = (input: SingleSidedLaunch): number =>
  DAMM_V2_LAUNCH_UNITS.token + DAMM_V2_LAUNCH_UNITS[launchKindOf(input)]

/** Returns the instructions that open the creator's wrapped SOL, and those that need it. */
async function poolInstructions(input: SingleSidedLaunch) {
  const opening = await poolOpeningOf(input)
  const { buyLamports: amount, platform } = input
  const { PublicKey } = await import('@solana/web3.js')
  const [creator, pool] = [new PublicKey(input.creator), await freshPool(input.mint)]
  const accounts = await tokenAccounts(pool, creator)
  const wrapped = await openWrapped(creator, accounts, amount + LEAST_SOL)
  const opened = [
    await initializePool(input, opening, creator, accounts),
    ...(input.lockLiquidity ? [await lockPosition({ ...input, creator }, opening.liquidity)] : []),
    ...(platform === null ? [] : await givePlatformShare({ ...input, creator }, platform)),
    // No one can trade before this buy, so it needs no larger minimum.
    ...(amount > 0n
      ? [await dammV2SwapInstruction({ payer: creator, accounts, side: 'buy', amount, minimumOut: 1n, pool })]
      : []),
    // This closes the creator's wrapped SOL account, and its whole balance becomes SOL.
    ...accounts.closing,
  ]
  return { wrapped, opened }
}

function launchKindOf({
  platform,
  buyLamports,
}: SingleSidedLaunch): Exclude<keyof typeof DAMM_V2_LAUNCH_UNITS, 'token'> {
  if (platform === null) return buyLamports > 0n ? 'poolWithBuy' : 'pool'
  return buyLamports > 0n ? 'sharedPoolWithBuy' : 'sharedPool'
}

async function mintWith(
  input: SingleSidedPool,
  after: readonly TransactionInstruction[],
): Promise<UnsignedTransaction> {
  const before = await budget(DAMM_V2_LAUNCH_UNITS.token, input.computeUnitPrice)
  return buildTokenCreation({ ...tokenOf(input), recentBlockhash: input.recentBlockhash, before, after })
}

/** The token of a launch, without authorities from the start. */
const tokenOf = (input: SingleSidedLaunch) => ({
  mint: input.mint,
  name: input.name,
  symbol: input.symbol,
  uri: input.uri,
  decimals: input.decimals,
  rent: input.rent,
  payer: input.creator,
  initialSupply: input.totalSupply,
  revokeMintAuthority: true,
  revokeFreezeAuthority: true,
  immutableMetadata: true,
  tokenProgram: 'spl' as const,
})

async function openWrapped(
  creator: PublicKey,
  { tokenB }: TokenAccounts,
  lamports: bigint,
): Promise<TransactionInstruction[]> {
  const spl = await import('@solana/spl-token')
  return [
    spl.createAssociatedTokenAccountIdempotentInstruction(creator, tokenB, creator, spl.NATIVE_MINT),
    ...(await wrapping(creator, WRAPPED_SOL, tokenB, lamports)),
  ]
}

async function freshPool(mint: string): Promise<PoolAccounts & { baseFeeMode: number }> {
  const { PublicKey } = await import('@solana/web3.js')
  const pool = await poolKey(mint)
  return {
    address: pool.toBase58(),
    tokenAMint: mint,
    tokenBMint: WRAPPED_SOL,
    tokenAVault: (await vaultKey(new PublicKey(mint), pool)).toBase58(),
    tokenBVault: (await vaultKey(new PublicKey(WRAPPED_SOL), pool)).toBase58(),
    tokenAProgram: TOKEN_PROGRAM,
    tokenBProgram: TOKEN_PROGRAM,
    baseFeeMode: 0,
  }
}

async function dammV2TipInstructions({
  creator,
  tip,
}: Pick<SingleSidedPool, 'creator' | 'tip'>): Promise<TransactionInstruction[]> {
  if (tip === null || tip.lamports === 0n) return []
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  const [fromPubkey, toPubkey] = [new PublicKey(creator), new PublicKey(tip.account)]
  return [SystemProgram.transfer({ fromPubkey, toPubkey, lamports: tip.lamports })]
}

async function budget(units: number, microLamports = 0n): Promise<TransactionInstruction[]> {
  const { ComputeBudgetProgram } = await import('@solana/web3.js')
  const price = microLamports === 0n ? [] : [ComputeBudgetProgram.setComputeUnitPrice({ microLamports })]
  return [ComputeBudgetProgram.setComputeUnitLimit({ units }), ...price]
}
