/** Builds the launch of a token in a pool of its own: the mint, then the pool that takes its whole supply. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../errors.ts'
import { TOKEN_PROGRAM } from '../localnet/addresses.ts'
import { buildTokenCreation } from '../tokens/index.ts'
import { compileUnsigned, type UnsignedTransaction } from '../unsigned.ts'
import { poolKey, positionKeys, vaultKey, WRAPPED_SOL } from './addresses.ts'
import { sqrtPriceOf } from './prices.ts'
import { instructionOf, loadSdk, toBigint } from './program.ts'
import { type PoolAccounts, swapInstruction, type TokenAccounts, tokenAccounts, wrapping } from './swap.ts'

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
  /** Lamports of the creator's first buy; 0 for none. */
  buyLamports: bigint
  /** To a relay, at the end of the last transaction. */
  tip: { account: string; lamports: bigint } | null
  recentBlockhash: string
  /** Lamports that keep the mint's 82 bytes rent-exempt. */
  rent: bigint
  /** Micro-lamports for each compute unit; 0 or nothing leaves the price out. */
  computeUnitPrice?: bigint
}

/** What the program takes as a fee, in hundredths of a percent. */
export const FEE_BPS = { min: 1, max: 9900 } as const

/**
 * Fixed, as the second transaction cannot be tried before the first has landed: at least half more than the 60,000,
 * 130,000 and 145,000 that were measured, since addresses cost the programs more or less to derive.
 */
export const LAUNCH_UNITS = { token: 120_000, pool: 220_000, poolWithBuy: 240_000 } as const

/**
 * Two transactions, to land in this order: the mint with its Metaplex metadata, mint and freeze authority gone; then
 * the pool against SOL with the whole supply, the first buy and the tip. The pool opens at once and its position, with
 * all liquidity unlocked, is the creator's. A wrapped SOL account of the creator's is closed in the end, to SOL.
 * Throws bad_request naming the field for what the programs refuse.
 */
export async function buildSingleSidedPool(input: SingleSidedPool): Promise<UnsignedTransaction[]> {
  const opening = await openingOf(input)
  const { creator, recentBlockhash, buyLamports, computeUnitPrice = 0n } = input
  const token = await buildTokenCreation({
    ...input,
    payer: creator,
    initialSupply: input.totalSupply,
    revokeMintAuthority: true,
    revokeFreezeAuthority: true,
    tokenProgram: 'spl',
    before: await budget(LAUNCH_UNITS.token, computeUnitPrice),
  })
  const before = await budget(buyLamports > 0n ? LAUNCH_UNITS.poolWithBuy : LAUNCH_UNITS.pool, computeUnitPrice)
  const after = await tipOf(input)
  const pool = await compileUnsigned(
    { payer: creator, recentBlockhash, before, after },
    await poolInstructions(input, opening),
  )
  return [token, pool]
}

/** Lamports that the program takes into a pool without any SOL: it rounds up from nothing. */
const LEAST_SOL = 1n
const MAX_BUY = 2n ** 64n - 1n - LEAST_SOL

const MAX_LIQUIDITY = 2n ** 128n - 1n

interface Opening {
  sqrtPrice: bigint
  highest: bigint
  liquidity: bigint
}

/** Throws bad_request for prices, amounts and fees that the program refuses. */
async function openingOf({
  totalSupply,
  initialMarketCapLamports,
  feeBps,
  buyLamports,
}: SingleSidedPool): Promise<Opening> {
  const { min, max } = FEE_BPS
  if (!Number.isInteger(feeBps) || feeBps < min || feeBps > max) {
    throw badRequest(`fee_bps must be a whole number from ${min} to ${max}`, { param: 'fee_bps' })
  }
  if (totalSupply <= 0n || totalSupply >= 2n ** 64n) {
    throw badRequest(`total_supply must be from 1 to ${2n ** 64n - 1n} raw units`, { param: 'total_supply' })
  }
  if (buyLamports < 0n || buyLamports > MAX_BUY) {
    throw badRequest(`buy_amount must be from 0 to ${MAX_BUY} lamports`, { param: 'buy_amount' })
  }
  const { sdk, toBn } = await loadSdk()
  const sqrtPrice = initialMarketCapLamports > 0n ? sqrtPriceOf(initialMarketCapLamports, totalSupply) : 0n
  const [lowest, highest] = [toBigint(sdk.MIN_SQRT_PRICE), toBigint(sdk.MAX_SQRT_PRICE)]
  const refuse = (reason: string) =>
    badRequest(
      `initial_market_cap is ${reason} for DAMM v2: ${initialMarketCapLamports} lamports for ${totalSupply} raw units`,
      { param: 'initial_market_cap' },
    )
  if (sqrtPrice < lowest) throw refuse('too low')
  if (sqrtPrice >= highest) throw refuse('too high')
  const mode = sdk.CollectFeeMode.OnlyB
  const liquidity = toBigint(sdk.getLiquidityDeltaFromAmountA(toBn(totalSupply), toBn(sqrtPrice), toBn(highest), mode))
  if (liquidity > MAX_LIQUIDITY) throw refuse('too high')
  return { sqrtPrice, highest, liquidity }
}

async function poolInstructions(input: SingleSidedPool, opening: Opening): Promise<TransactionInstruction[]> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const creator = new PublicKey(input.creator)
  const pool = await freshPool(input.mint)
  const accounts = await tokenAccounts(pool, creator, creator)
  const amount = input.buyLamports
  return [
    // The token's account is there, with the supply in it.
    spl.createAssociatedTokenAccountIdempotentInstruction(creator, accounts.tokenB, creator, spl.NATIVE_MINT),
    ...(await wrapping(creator, WRAPPED_SOL, accounts.tokenB, amount + LEAST_SOL)),
    await initialize(input, opening, creator, accounts),
    // Nobody trades before it: whatever it gives is what was asked.
    ...(amount > 0n
      ? [await swapInstruction({ payer: creator, accounts, side: 'buy', amount, minimumOut: 1n, pool })]
      : []),
    ...accounts.closing,
  ]
}

async function initialize(
  { mint, positionNft, feeBps }: SingleSidedPool,
  { sqrtPrice, highest, liquidity }: Opening,
  creator: PublicKey,
  accounts: TokenAccounts,
): Promise<TransactionInstruction> {
  const [{ PublicKey, SystemProgram }, spl, { sdk, toBn }] = await Promise.all([
    import('@solana/web3.js'),
    import('@solana/spl-token'),
    loadSdk(),
  ])
  const [tokenAMint, pool, positionNftMint] = [new PublicKey(mint), await poolKey(mint), new PublicKey(positionNft)]
  const { FeeTimeSchedulerLinear } = sdk.BaseFeeMode
  const baseFee = sdk.getFeeTimeSchedulerParams(feeBps, feeBps, FeeTimeSchedulerLinear, 0, 0)
  const params = {
    poolFees: { baseFee, compoundingFeeBps: 0, padding: 0, dynamicFee: null },
    sqrtMinPrice: toBn(sqrtPrice),
    sqrtMaxPrice: toBn(highest),
    hasAlphaVault: false,
    liquidity: toBn(liquidity),
    sqrtPrice: toBn(sqrtPrice),
    activationType: sdk.ActivationType.Timestamp,
    collectFeeMode: sdk.CollectFeeMode.OnlyB,
    activationPoint: null,
  }
  return instructionOf('initializeCustomizablePool', [params], {
    ...(await positionKeys(positionNftMint)),
    creator,
    payer: creator,
    positionNftMint,
    pool,
    tokenAMint,
    tokenBMint: spl.NATIVE_MINT,
    tokenAVault: await vaultKey(tokenAMint, pool),
    tokenBVault: await vaultKey(spl.NATIVE_MINT, pool),
    payerTokenA: accounts.tokenA,
    payerTokenB: accounts.tokenB,
    tokenAProgram: spl.TOKEN_PROGRAM_ID,
    tokenBProgram: spl.TOKEN_PROGRAM_ID,
    token2022Program: spl.TOKEN_2022_PROGRAM_ID,
    systemProgram: SystemProgram.programId,
  })
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

async function tipOf({ creator, tip }: SingleSidedPool): Promise<TransactionInstruction[]> {
  if (tip === null || tip.lamports === 0n) return []
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  const [fromPubkey, toPubkey] = [new PublicKey(creator), new PublicKey(tip.account)]
  return [SystemProgram.transfer({ fromPubkey, toPubkey, lamports: tip.lamports })]
}

async function budget(units: number, microLamports: bigint): Promise<TransactionInstruction[]> {
  const { ComputeBudgetProgram } = await import('@solana/web3.js')
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units })
  return microLamports === 0n ? [limit] : [limit, ComputeBudgetProgram.setComputeUnitPrice({ microLamports })]
}
