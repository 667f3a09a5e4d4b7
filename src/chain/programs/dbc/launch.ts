/** Builds the transactions that launch a token: its config, its pool and the creator's first buy. */
import type { TransactionInstruction } from '@solana/web3.js'
import { ApiError } from '../../../platform/errors.ts'
import { budgetInstructions } from '../../sending/compute-budget.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { transferInstruction } from '../sol-transfers.ts'
import { badgeAccounts, type ConfigContent, configInstruction } from './config.ts'
import { dbcPoolAddress, openDbc } from './program.ts'
import { buyInstructions } from './swaps.ts'
import type { DbcPool, LaunchCurve } from './types.ts'

/** A launch, independent of the transactions that it takes. */
export interface DbcLaunchContent extends ConfigContent {
  /** Address that signs, and pays for its first buy. */
  creator: string
  /** Address that signs and pays rent and fees, if it is not the creator. */
  payer?: string
  /** Address of a fresh key that also signs: the token's mint. */
  mint: string
  /**
   * Address of the config account: a fresh key that also signs, for this one pool, or the shared config of several
   * launches.
   */
  config: string
  /** Whether the config is on chain already, with this content. */
  isConfigShared?: boolean
  name: string
  symbol: string
  uri: string
  /**
   * Lamports, or raw units of the quote, of the creator's first buy, or 0 for none. An amount beyond the curve's end
   * remains with the creator.
   */
  buyLamports: bigint
  /** Token program of the quote's mint. The default is `spl`. */
  quoteProgram?: DbcPool['quoteProgram'] | undefined
  /** Address of the quote's badge, if it needs one. */
  tokenBadge?: string | null | undefined
}

export interface DbcLaunch extends DbcLaunchContent {
  /** Tip in the last transaction, or null for none. */
  tip: { account: string; lamports: bigint } | null
  recentBlockhash: string
  /** Micro-lamports per unit, or 0 for none. */
  computeUnitPrice: bigint
}

/**
 * Compute limits by the content of a transaction: half more than the largest run used. They are fixed, because the
 * second transaction requires the accounts of the first and cannot be simulated before.
 */
export const DBC_LAUNCH_UNITS = {
  config: 75_000,
  pool: 200_000,
  whole: 270_000,
  poolAndBuy: 310_000,
  wholeAndBuy: 385_000,
} as const

/** Cost of additional segments and vestings: half more than measured, with up to 16 segments. */
const SEGMENT_UNITS = 11_000
const SEGMENT_BUY_UNITS = 12_000
const LIQUIDITY_VESTING_UNITS = 25_000

/** Returns the compute limit for creating a config of this curve alone. */
export function configUnits({ parameters }: Pick<LaunchCurve, 'parameters'>): number {
  const { curve, partnerLiquidityVestingInfo, creatorLiquidityVestingInfo } = parameters
  const vests = partnerLiquidityVestingInfo.vestingPercentage + creatorLiquidityVestingInfo.vestingPercentage > 0
  const segments = (curve.length - 1) * SEGMENT_UNITS
  return DBC_LAUNCH_UNITS.config + segments + (vests ? LIQUIDITY_VESTING_UNITS : 0)
}

/**
 * Returns the transactions in the order of sending: one if the config is shared, or if everything fits and there is no
 * first buy, else the config, then the pool with the buy. Throws bad_request when the texts are too long even then.
 */
export async function buildDbcLaunch(launch: DbcLaunch): Promise<UnsignedTransaction[]> {
  const pool = await poolInstruction(launch)
  const tip = await dbcTipInstructions(launch)
  const buy = launch.buyLamports === 0n ? [] : await firstBuy(launch)
  const units = wholeLaunchUnits({ ...launch, isConfigShared: true })
  if (launch.isConfigShared) return [await compile(launch, units, [pool, ...buy, ...tip])]
  const config = await configInstruction({ ...launch, payer: payerOf(launch) })
  if (launch.buyLamports === 0n) {
    const whole = await whenItFits(compile(launch, wholeLaunchUnits(launch), [config, pool, ...tip]))
    if (whole !== null) return [whole]
  }
  return [
    await compile(launch, configUnits(launch.curve), [config]),
    await compile(launch, units, [pool, ...buy, ...tip]),
  ]
}

/**
 * Builds the launch as a single transaction, so that all of it lands or nothing: the config unless it is shared, the
 * pool and the first buy. With a config of its own and a buy it needs version 1. Throws bad_request when it is too
 * large.
 */
export async function buildWholeDbcLaunch(launch: Envelope & DbcLaunchContent): Promise<UnsignedTransaction> {
  const config = launch.isConfigShared ? [] : [await configInstruction({ ...launch, payer: payerOf(launch) })]
  const buy = launch.buyLamports === 0n ? [] : await firstBuy(launch)
  return compileUnsigned(launch, [...config, await poolInstruction(launch), ...buy])
}

/** Returns the compute limit of a single transaction that cannot run yet. */
export function wholeLaunchUnits({
  isConfigShared,
  buyLamports,
  curve,
}: Pick<DbcLaunchContent, 'isConfigShared' | 'buyLamports' | 'curve'>): number {
  const { config, pool, whole, poolAndBuy, wholeAndBuy } = DBC_LAUNCH_UNITS
  const buy = (curve.parameters.curve.length - 1) * SEGMENT_BUY_UNITS
  const made = isConfigShared ? 0 : configUnits(curve) - config
  if (buyLamports === 0n) return (isConfigShared ? pool : whole) + made
  return (isConfigShared ? poolAndBuy : wholeAndBuy) + made + buy
}

const payerOf = ({ payer, creator }: Pick<DbcLaunchContent, 'payer' | 'creator'>): string => payer ?? creator

async function poolInstruction(launch: DbcLaunchContent): Promise<TransactionInstruction> {
  const dbc = await openDbc()
  const { methods, sdk, key, spl, systemProgram, poolAuthority, events } = dbc
  const badge = badgeAccounts(dbc, launch.tokenBadge)
  const { address, quoteMint, quoteProgram, baseProgram, baseVault, quoteVault } = await launchedPool(launch)
  const mint = key(launch.mint)
  const texts = { name: launch.name, symbol: launch.symbol, uri: launch.uri }
  const accounts = {
    config: key(launch.config),
    poolAuthority,
    creator: key(launch.creator),
    baseMint: mint,
    quoteMint: key(quoteMint),
    pool: key(address),
    baseVault: key(baseVault),
    quoteVault: key(quoteVault),
    payer: key(payerOf(launch)),
    tokenQuoteProgram: quoteProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID,
    systemProgram,
    ...events,
  }
  if (baseProgram === 'token2022') {
    return methods
      .initializeVirtualPoolWithToken2022(texts)
      .accountsStrict({ ...accounts, tokenProgram: spl.TOKEN_2022_PROGRAM_ID })
      .remainingAccounts(badge)
      .instruction()
  }
  const mintMetadata = sdk.deriveMintMetadata(mint)
  return methods
    .initializeVirtualPoolWithSplToken(texts)
    .accountsStrict({
      ...accounts,
      mintMetadata,
      metadataProgram: sdk.METAPLEX_PROGRAM_ID,
      tokenProgram: spl.TOKEN_PROGRAM_ID,
    })
    .remainingAccounts(badge)
    .instruction()
}

/** Describes the pool before it exists, as far as its instructions need it. */
async function launchedPool({ mint, config, curve, quoteProgram = 'spl' }: DbcLaunchContent) {
  const { sdk, key } = await openDbc()
  const { quoteMint, parameters } = curve
  const address = await dbcPoolAddress({ mint, config, quoteMint })
  const vault = (token: string) => sdk.deriveDbcTokenVaultAddress(key(address), key(token)).toBase58()
  return {
    address,
    config,
    baseMint: mint,
    quoteMint,
    baseVault: vault(mint),
    quoteVault: vault(quoteMint),
    baseProgram: parameters.tokenType === sdk.TokenType.SPLToken ? ('spl' as const) : ('token2022' as const),
    quoteProgram,
    // The program grants the lowest fee if it sees that the transaction creates the pool.
    swapShowsInstructions: parameters.enableFirstSwapWithMinFee,
  }
}

async function firstBuy(launch: DbcLaunchContent): Promise<TransactionInstruction[]> {
  // No one can trade before it and move the price, because the same transaction creates the pool.
  const minimumOut = 0n
  const pool = await launchedPool(launch)
  return buyInstructions({
    payer: launch.creator,
    funder: payerOf(launch),
    pool,
    amount: launch.buyLamports,
    minimumOut,
    provenDecimals: launch.curve.quoteDecimals,
  })
}

async function dbcTipInstructions(launch: DbcLaunch): Promise<TransactionInstruction[]> {
  if (launch.tip === null) return []
  return [await transferInstruction(payerOf(launch), launch.tip.account, launch.tip.lamports)]
}

async function compile(
  { recentBlockhash, computeUnitPrice, ...launch }: DbcLaunch,
  units: number,
  instructions: TransactionInstruction[],
): Promise<UnsignedTransaction> {
  const before = await budgetInstructions(units, computeUnitPrice > 0n ? computeUnitPrice : null)
  return compileUnsigned({ payer: payerOf(launch), recentBlockhash, before }, instructions)
}

/** Returns null for a transaction that is too large. */
async function whenItFits(transaction: Promise<UnsignedTransaction>): Promise<UnsignedTransaction | null> {
  try {
    return await transaction
  } catch (error) {
    if (error instanceof ApiError && error.code === 'bad_request') return null
    throw error
  }
}
