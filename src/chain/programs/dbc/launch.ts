/** Builds the transactions that launch a token: its config, its pool and the creator's first buy. */
import type { TransactionInstruction } from '@solana/web3.js'
import { ApiError } from '../../../errors.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../unsigned.ts'
import { type ConfigContent, configInstruction } from './config.ts'
import { dbcPoolAddress, openDbc } from './program.ts'
import { buyInstructions } from './swaps.ts'

/** What a launch is, whatever transactions it takes. */
export interface DbcLaunchContent extends ConfigContent {
  /** Address that signs and pays for everything. */
  creator: string
  /** Address of a fresh key that also signs: the token's mint. */
  mint: string
  /** Address of the config account: a fresh key that also signs, for this one pool, or the one that launches share. */
  config: string
  /** Whether the config is on chain already, with this content. */
  isConfigShared?: boolean
  name: string
  symbol: string
  uri: string
  /** Lamports of the creator's first buy, or 0 for none. An amount beyond the curve's end remains with the creator. */
  buyLamports: bigint
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

/**
 * Returns the transactions in the order of sending: one if the config is shared, or if everything fits and there is no
 * first buy, else the config, then the pool with the buy. Throws bad_request when the texts are too long even then.
 */
export async function buildDbcLaunch(launch: DbcLaunch): Promise<UnsignedTransaction[]> {
  const [pool, tip] = [await poolInstruction(launch), await dbcTipInstructions(launch)]
  const buy = launch.buyLamports === 0n ? [] : await firstBuy(launch)
  const units = launch.buyLamports === 0n ? DBC_LAUNCH_UNITS.pool : DBC_LAUNCH_UNITS.poolAndBuy
  if (launch.isConfigShared) return [await compile(launch, units, [pool, ...buy, ...tip])]
  const config = await configInstruction({ ...launch, payer: launch.creator })
  if (launch.buyLamports === 0n) {
    const whole = await whenItFits(compile(launch, DBC_LAUNCH_UNITS.whole, [config, pool, ...tip]))
    if (whole !== null) return [whole]
  }
  return [
    await compile(launch, DBC_LAUNCH_UNITS.config, [config]),
    await compile(launch, units, [pool, ...buy, ...tip]),
  ]
}

/**
 * Builds the launch as a single transaction, so that all of it lands or nothing: the config unless it is shared, the
 * pool and the first buy. With a config of its own and a buy it needs version 1. The payer is the creator. Throws
 * bad_request when it is too large.
 */
export async function buildWholeDbcLaunch(launch: Envelope & DbcLaunchContent): Promise<UnsignedTransaction> {
  const config = launch.isConfigShared ? [] : [await configInstruction({ ...launch, payer: launch.creator })]
  const buy = launch.buyLamports === 0n ? [] : await firstBuy(launch)
  return compileUnsigned(launch, [...config, await poolInstruction(launch), ...buy])
}

/** Returns the compute limit of a single transaction that cannot run yet. */
export function wholeLaunchUnits({
  isConfigShared,
  buyLamports,
}: Pick<DbcLaunchContent, 'isConfigShared' | 'buyLamports'>): number {
  const { pool, whole, poolAndBuy, wholeAndBuy } = DBC_LAUNCH_UNITS
  if (isConfigShared) return buyLamports === 0n ? pool : poolAndBuy
  return buyLamports === 0n ? whole : wholeAndBuy
}

async function poolInstruction(launch: DbcLaunchContent): Promise<TransactionInstruction> {
  const { methods, sdk, key, spl, systemProgram, poolAuthority, events } = await openDbc()
  const [mint, creator, pool] = [key(launch.mint), key(launch.creator), key(await dbcPoolAddress(launch))]
  return methods
    .initializeVirtualPoolWithSplToken({ name: launch.name, symbol: launch.symbol, uri: launch.uri })
    .accountsStrict({
      config: key(launch.config),
      poolAuthority,
      creator,
      baseMint: mint,
      quoteMint: spl.NATIVE_MINT,
      pool,
      baseVault: sdk.deriveDbcTokenVaultAddress(pool, mint),
      quoteVault: sdk.deriveDbcTokenVaultAddress(pool, spl.NATIVE_MINT),
      mintMetadata: sdk.deriveMintMetadata(mint),
      metadataProgram: sdk.METAPLEX_PROGRAM_ID,
      payer: creator,
      tokenQuoteProgram: spl.TOKEN_PROGRAM_ID,
      tokenProgram: spl.TOKEN_PROGRAM_ID,
      systemProgram,
      ...events,
    })
    .instruction()
}

async function firstBuy(launch: DbcLaunchContent): Promise<TransactionInstruction[]> {
  const { sdk, key, spl } = await openDbc()
  const address = await dbcPoolAddress(launch)
  const vault = (mint: string) => sdk.deriveDbcTokenVaultAddress(key(address), key(mint)).toBase58()
  const quoteMint = spl.NATIVE_MINT.toBase58()
  const pool = {
    address,
    config: launch.config,
    baseMint: launch.mint,
    quoteMint,
    baseVault: vault(launch.mint),
    quoteVault: vault(quoteMint),
    baseProgram: 'spl' as const,
    swapShowsInstructions: false,
  }
  // No one can trade before it and move the price, because the same transaction creates the pool.
  const minimumOut = 0n
  return buyInstructions({ payer: launch.creator, pool, amount: launch.buyLamports, minimumOut })
}

async function dbcTipInstructions({ creator, tip }: DbcLaunch): Promise<TransactionInstruction[]> {
  if (tip === null) return []
  const { web3, key } = await openDbc()
  const { account, lamports } = tip
  return [web3.SystemProgram.transfer({ fromPubkey: key(creator), toPubkey: key(account), lamports })]
}

async function compile(
  { creator, recentBlockhash, computeUnitPrice }: DbcLaunch,
  units: number,
  instructions: TransactionInstruction[],
): Promise<UnsignedTransaction> {
  const { ComputeBudgetProgram } = (await openDbc()).web3
  const before = [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    ...(computeUnitPrice > 0n ? [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: computeUnitPrice })] : []),
  ]
  return compileUnsigned({ payer: creator, recentBlockhash, before }, instructions)
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
