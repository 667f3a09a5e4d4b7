/** Builds the launch of a token in a pool of its own: the mint, then the pool that takes its whole supply. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { TOKEN_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { compileUnsigned, type UnsignedTransaction } from '../../unsigned.ts'
import { buildTokenCreation } from '../tokens/index.ts'
import { poolKey, vaultKey } from './addresses.ts'
import { givePlatformShare, lockPosition, type PlatformShare } from './lock.ts'
import { initializePool, LEAST_SOL, poolOpeningOf } from './opening.ts'
import { dammV2SwapInstruction, type PoolAccounts, type TokenAccounts, tokenAccounts, wrapping } from './swap.ts'

export interface SingleSidedPool {
  /** Pays and signs both transactions, and owns the pool's position. */
  creator: string
  /** Address of a fresh key that signs the first transaction. */
  mint: string
  /** Address of a fresh key that signs the second. */
  positionNft: string
  name: string
  symbol: string
  uri: string
  /** 0 to 9. */
  decimals: number
  /** Raw units. */
  totalSupply: bigint
  /** What the whole supply is worth at the first price. */
  initialMarketCapLamports: bigint
  /** 1 to 9900, taken in SOL of every trade. */
  feeBps: number
  /** Whether the position is locked for good: its liquidity can never be taken out, its fees can. */
  lockLiquidity: boolean
  /** The platform's part of a locked position; null leaves all of it to the creator. */
  platform: PlatformShare | null
  /** Lamports of the creator's first buy; 0 for none. */
  buyLamports: bigint
  /** Paid to a relay at the end of the last transaction. */
  tip: { account: string; lamports: bigint } | null
  recentBlockhash: string
  /** Lamports that keep the mint's 82 bytes rent-exempt. */
  rent: bigint
  /** Micro-lamports for each compute unit; 0 or nothing leaves the price out. */
  computeUnitPrice?: bigint
}

/**
 * Fixed, as the second transaction cannot be tried before the first has landed: half more than some dozen launches
 * were measured at, since addresses cost the programs more or less to derive.
 */
export const DAMM_V2_LAUNCH_UNITS = {
  token: 120_000,
  pool: 260_000,
  poolWithBuy: 290_000,
  sharedPool: 370_000,
  sharedPoolWithBuy: 400_000,
} as const

/**
 * Two transactions, to land in this order: the mint with its Metaplex metadata, which nobody can mint, freeze or change;
 * then the pool against SOL with the whole supply, locked unless that is not wished, the platform's part of it, the
 * first buy and the tip. With the platform's part, what is wrapped for the pool and the tip go with the mint, for want
 * of room. A wrapped SOL account of the creator's is closed in the end, to SOL. Throws bad_request naming the field for
 * what the programs refuse.
 */
export async function buildSingleSidedPool(input: SingleSidedPool): Promise<UnsignedTransaction[]> {
  const opening = await poolOpeningOf(input)
  const { buyLamports: amount, computeUnitPrice, platform, recentBlockhash } = input
  const { PublicKey } = await import('@solana/web3.js')
  const [creator, pool] = [new PublicKey(input.creator), await freshPool(input.mint)]
  const accounts = await tokenAccounts(pool, creator)
  const [wrapped, tip] = [await openWrapped(creator, accounts, amount + LEAST_SOL), await dammV2TipInstructions(input)]
  const ahead = platform === null ? [] : [...wrapped, ...tip]
  const instructions = [
    ...(platform === null ? wrapped : []),
    await initializePool(input, opening, creator, accounts),
    ...(input.lockLiquidity ? [await lockPosition({ ...input, creator }, opening.liquidity)] : []),
    ...(platform === null ? [] : await givePlatformShare({ ...input, creator }, platform)),
    // Nobody trades before it: whatever it gives is what was asked.
    ...(amount > 0n
      ? [await dammV2SwapInstruction({ payer: creator, accounts, side: 'buy', amount, minimumOut: 1n, pool })]
      : []),
    ...accounts.closing,
  ]
  const before = await budget(DAMM_V2_LAUNCH_UNITS[launchKindOf(input)], computeUnitPrice)
  const after = platform === null ? tip : []
  return [
    await mintWith(input, ahead),
    await compileUnsigned({ payer: input.creator, recentBlockhash, before, after }, instructions),
  ]
}

function launchKindOf({ platform, buyLamports }: SingleSidedPool): Exclude<keyof typeof DAMM_V2_LAUNCH_UNITS, 'token'> {
  if (platform === null) return buyLamports > 0n ? 'poolWithBuy' : 'pool'
  return buyLamports > 0n ? 'sharedPoolWithBuy' : 'sharedPool'
}

async function mintWith(
  input: SingleSidedPool,
  after: readonly TransactionInstruction[],
): Promise<UnsignedTransaction> {
  return buildTokenCreation({
    ...input,
    payer: input.creator,
    initialSupply: input.totalSupply,
    revokeMintAuthority: true,
    revokeFreezeAuthority: true,
    immutableMetadata: true,
    tokenProgram: 'spl',
    before: await budget(DAMM_V2_LAUNCH_UNITS.token, input.computeUnitPrice),
    after,
  })
}

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

async function dammV2TipInstructions({ creator, tip }: SingleSidedPool): Promise<TransactionInstruction[]> {
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
