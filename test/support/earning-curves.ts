/** Launch curves that earn for everybody: with shares of the creator, fees of migration and creation, and locked tokens, in SOL or another quote. */
import * as sdk from '@meteora-ag/dynamic-bonding-curve-sdk'
import { ComputeBudgetProgram, type PublicKey } from '@solana/web3.js'
import { expect } from 'vitest'
import {
  buildCurve,
  buildMigrationStep,
  type DbcPool,
  type LaunchCurve,
  MIGRATION_UNITS,
} from '../../src/chain/programs/dbc/index.ts'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import {
  addressOf,
  CONFIG,
  CREATOR,
  type DbcChain,
  goldenPool,
  KEEPER,
  MINT,
  PARTNER,
  presetWith,
  TRADER,
} from './dbc.ts'
import { createMint, give } from './gold.ts'
import { GOLDEN_BLOCKHASH, goldenKey } from './golden.ts'

export interface Earnings {
  creatorFee: number
  /** Percent of the threshold, and the creator's percent of that. */
  migrationFee: number
  creatorMigrationFee: number
  /** SOL of each pool's creation. */
  creationFee: number
  /** Whether a buy's fee is taken from the tokens, and a sell's from the quote. */
  bothTokens: boolean
  locked: boolean
  quoteDecimals: number
}

/** A billion tokens from 30 to 400 of the quote. */
export async function earningCurve(changes: Partial<Earnings> = {}): Promise<LaunchCurve> {
  const {
    creatorFee = 37,
    migrationFee = 5,
    creatorMigrationFee = 33,
    creationFee = 0.010000001,
    bothTokens = false,
    locked = true,
    quoteDecimals = 9,
  } = changes
  const parameters = sdk.buildCurveWithMarketCap({
    token: {
      tokenType: sdk.TokenType.SPLToken,
      tokenBaseDecimal: 6,
      tokenQuoteDecimal: quoteDecimals,
      tokenAuthorityOption: sdk.TokenAuthorityOption.Immutable,
      totalTokenSupply: 1_000_000_000,
      leftover: 1_000,
    },
    fee: {
      baseFeeParams: {
        baseFeeMode: sdk.BaseFeeMode.FeeSchedulerLinear,
        feeSchedulerParam: { startingFeeBps: 100, endingFeeBps: 100, numberOfPeriod: 0, totalDuration: 0 },
      },
      dynamicFeeEnabled: false,
      collectFeeMode: bothTokens ? sdk.CollectFeeMode.OutputToken : sdk.CollectFeeMode.QuoteToken,
      creatorTradingFeePercentage: creatorFee,
      poolCreationFee: creationFee,
      enableFirstSwapWithMinFee: false,
    },
    migration: {
      migrationOption: sdk.MigrationOption.MET_DAMM_V2,
      migrationFeeOption: sdk.MigrationFeeOption.FixedBps100,
      migrationFee: { feePercentage: migrationFee, creatorFeePercentage: creatorMigrationFee },
    },
    liquidityDistribution: {
      partnerPermanentLockedLiquidityPercentage: 50,
      partnerLiquidityPercentage: 10,
      creatorPermanentLockedLiquidityPercentage: 30,
      creatorLiquidityPercentage: 10,
    },
    lockedVesting: {
      totalLockedVestingAmount: locked ? 100_000_000 : 0,
      numberOfVestingPeriod: locked ? 10 : 0,
      cliffUnlockAmount: locked ? 1_000_003 : 0,
      totalVestingDuration: locked ? 864_000 : 0,
      cliffDurationFromMigrationTime: locked ? 3_600 : 0,
    },
    activationType: sdk.ActivationType.Timestamp,
    initialMarketCap: 30,
    migrationMarketCap: 400,
  } as never)
  return { ...(await buildCurve(presetWith())), parameters }
}

export const QUOTE = goldenKey(17)
/** Raw units of the other quote, of nine decimals, that the trader has. */
const HELD = 1_000_000_000_000n

/** Opens a mint as quote, gives the trader of it, and lands a pool in it by the SDK of the program. */
export async function launchInQuote(opened: DbcChain, curve: LaunchCurve): Promise<DbcPool> {
  const { chain, connection } = opened
  const quote = createMint(chain, KEEPER, { key: QUOTE })
  give(chain, KEEPER, quote, TRADER.publicKey, HELD)
  const client = new sdk.DynamicBondingCurveClient(connection, 'processed')
  const config = await client.partner.createConfig({
    ...curve.parameters,
    payer: CREATOR.publicKey,
    config: CONFIG.publicKey,
    feeClaimer: PARTNER.publicKey,
    leftoverReceiver: PARTNER.publicKey,
    quoteMint: QUOTE.publicKey,
  })
  const land = async (instructions: Parameters<typeof compileUnsigned>[1]) => {
    const built = await compileUnsigned({ payer: addressOf(CREATOR), recentBlockhash: GOLDEN_BLOCKHASH }, instructions)
    expect(opened.land(built), opened.logs.join('\n')).toBeNull()
  }
  await land(config.instructions)
  const pool = await client.creator.createPool({
    name: 'Test Coin',
    symbol: 'TST',
    uri: 'https://example.com/coin.json',
    payer: CREATOR.publicKey,
    poolCreator: CREATOR.publicKey,
    config: CONFIG.publicKey,
    baseMint: MINT.publicKey,
  })
  await land(pool.instructions)
  const address: PublicKey = sdk.deriveDbcPoolAddress(QUOTE.publicKey, MINT.publicKey, CONFIG.publicKey)
  return opened.read(address.toBase58())
}

/** The pool of the fixed keys in the other quote as it would be read. */
export async function quotedPool(changes: Partial<DbcPool> = {}): Promise<DbcPool> {
  const [quote, mint] = [QUOTE.publicKey, MINT.publicKey]
  const address = sdk.deriveDbcPoolAddress(quote, mint, CONFIG.publicKey)
  const [baseVault, quoteVault] = [mint, quote].map((each) => sdk.deriveDbcTokenVaultAddress(address, each).toBase58())
  const places = { address: address.toBase58(), quoteMint: addressOf(QUOTE), baseVault, quoteVault }
  return goldenPool({ ...(places as Partial<DbcPool>), ...changes })
}

/** Lands every step of the migration of a full curve. */
export async function migrate(opened: DbcChain, pool: DbcPool): Promise<DbcPool> {
  let read = pool
  while (!read.isMigrated) {
    const before = [ComputeBudgetProgram.setComputeUnitLimit({ units: MIGRATION_UNITS.migrate })]
    const step = await buildMigrationStep({
      pool: read,
      payer: addressOf(KEEPER),
      recentBlockhash: GOLDEN_BLOCKHASH,
      before,
    })
    expect(opened.land(step, step.secretKeys), opened.logs.join('\n')).toBeNull()
    read = await opened.read(pool.address)
  }
  return read
}
