/** Launches, swaps, claims and migrations of both of Meteora's pools, beside its SDKs. */
import { randomBytes } from 'node:crypto'
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import { DAMM_V2_MIGRATION_FEE_ADDRESS, DynamicBondingCurveClient } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { NATIVE_MINT, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import BN from 'bn.js'
import { buildMigrationStep, MIGRATION_UNITS, readDbcPool } from '../../src/chain/programs/dbc/index.ts'
import { buildTransaction } from '../../src/operations/building.ts'
import { planClaim } from '../../src/operations/fee-claims/plan-claim.ts'
import { type LaunchInput, planLaunch } from '../../src/operations/pools/plan-launch.ts'
import { curveNamed } from '../../src/operations/pools/presets.ts'
import { swapPool } from '../../src/operations/pools/swap-pool.ts'
import type { BuildKind } from './floor.ts'
import { SOL, type Stage, UNSIGNED } from './stage.ts'
import { tokenInstructions } from './tokens.ts'

const LAUNCH = { name: 'Bench Coin', symbol: 'BENCH', uri: 'https://example.com/coin.json' }
const BUY = SOL / 10n
const SLIPPAGE_BPS = 100
const POOL_FEE_BPS = 100
const DBC_SDK = 'DBC SDK'
const CP_AMM_SDK = 'cp-amm SDK'

export async function meteoraKinds(stage: Stage): Promise<BuildKind[]> {
  return [...(await dbcKinds(stage)), ...(await dammV2Kinds(stage))]
}

const launchInput = (stage: Stage, creator: Keypair, more: Partial<LaunchInput>): LaunchInput => {
  const partner = stage.platform.publicKey.toBase58()
  return {
    ...LAUNCH,
    type: 'dbc',
    creator: creator.publicKey.toBase58(),
    lockLiquidity: true,
    buyLamports: 0n,
    receivers: { feeClaimer: partner, leftoverReceiver: partner },
    quoteProgram: 'spl',
    partner,
    sharedConfig: null,
    isBundled: false,
    ...more,
  }
}

/** Lands a launch and one buy, of which its partner has a fee. */
async function landedPool(stage: Stage, creator: Keypair, more: Partial<LaunchInput>): Promise<string> {
  const launch = await planLaunch(stage.real, launchInput(stage, creator, more))
  const keys = Object.values(launch.requiredSigners).flatMap((key) =>
    key?.length ? [Keypair.fromSecretKey(Uint8Array.from(key))] : [],
  )
  for (const transaction of launch.transactions) stage.land(transaction, keys)
  await landSwap(stage, launch.address, BUY)
  return launch.address
}

const buyOf = (stage: Stage, address: string, lamports: bigint) => ({
  ...UNSIGNED,
  address,
  payer: stage.user.publicKey.toBase58(),
  side: 'buy' as const,
  amount: String(lamports),
  slippage_bps: SLIPPAGE_BPS,
})

async function landSwap(stage: Stage, address: string, lamports: bigint): Promise<void> {
  stage.land((await swapPool(stage.real, buyOf(stage, address, lamports))).tx.transaction)
}

const part = (payer: PublicKey, { instructions }: { instructions: TransactionInstruction[] }) => ({
  payer,
  instructions,
})

async function dbcKinds(stage: Stage): Promise<BuildKind[]> {
  const { context, connection, user, platform } = stage
  const client = new DynamicBondingCurveClient(connection, 'confirmed')
  const [open, full] = [await landedPool(stage, user, {}), await landedPool(stage, user, {})]
  await landSwap(stage, full, 100n * SOL)
  const { curve } = await curveNamed(context.config, undefined)
  const [pool, fullPool] = [new PublicKey(open), new PublicKey(full)]
  const fullConfig = new PublicKey((await readDbcPool(context.chain, full))?.config ?? '')
  // The same for every call, as the SDK asks the node whether the accounts of fresh keys are there.
  const [config, baseMint] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
  const launched = {
    ...curve.parameters,
    config,
    feeClaimer: platform.publicKey,
    leftoverReceiver: platform.publicKey,
    quoteMint: NATIVE_MINT,
    payer: user.publicKey,
    preCreatePoolParam: {
      ...LAUNCH,
      poolCreator: user.publicKey,
      baseMint,
    },
  }
  return [
    {
      name: 'launch, dbc',
      sdk: DBC_SDK,
      hasTrial: false,
      build: () => planLaunch(context, launchInput(stage, user, {})),
      call: async () => [part(user.publicKey, await client.partner.createConfigAndPool(launched))],
    },
    {
      name: 'launch with a first buy, dbc',
      sdk: DBC_SDK,
      hasTrial: false,
      build: () => planLaunch(context, launchInput(stage, user, { buyLamports: BUY })),
      async call() {
        const firstBuyParam = {
          buyer: user.publicKey,
          buyAmount: new BN(BUY.toString()),
          minimumAmountOut: new BN(0),
          referralTokenAccount: null,
        }
        const made = await client.partner.createConfigAndPoolWithFirstBuy({
          ...launched,
          firstBuyParam,
        })
        return [part(user.publicKey, made.createConfigTx), part(user.publicKey, made.createPoolWithFirstBuyTx)]
      },
    },
    {
      name: 'swap with its quote, dbc',
      sdk: DBC_SDK,
      hasTrial: true,
      build: () => swapPool(context, buyOf(stage, open, BUY)),
      async call() {
        const [virtualPool, clock] = await Promise.all([
          client.state.getPool(pool),
          connection.getSlot('confirmed').then((slot) => connection.getBlockTime(slot)),
        ])
        if (virtualPool === null) throw new Error('the pool is not there')
        const config = await client.state.getPoolConfig(virtualPool.poolState.config)
        if (config === null) throw new Error('the config is not there')
        const amountIn = new BN(BUY.toString())
        const { minimumAmountOut = new BN(0) } = client.pool.swapQuote({
          virtualPool,
          config,
          swapBaseForQuote: false,
          amountIn,
          slippageBps: SLIPPAGE_BPS,
          hasReferral: false,
          eligibleForFirstSwapWithMinFee: false,
          currentPoint: new BN(clock ?? 0),
        })
        const order = { owner: user.publicKey, pool, amountIn, minimumAmountOut, swapBaseForQuote: false }
        return [part(user.publicKey, await client.pool.swap({ ...order, referralTokenAccount: null }))]
      },
    },
    {
      name: 'fee claim, dbc',
      sdk: DBC_SDK,
      hasTrial: true,
      build: () => planClaim(context, { address: open, kind: 'dbc' }, platform.publicKey.toBase58()),
      async call() {
        const state = await client.state.getPool(pool)
        const claim = await client.partner.claimPartnerTradingFee({
          feeClaimer: platform.publicKey,
          payer: platform.publicKey,
          pool,
          maxBaseAmount: new BN(0),
          maxQuoteAmount: state?.poolState.partnerQuoteFee ?? new BN(0),
        })
        return [part(platform.publicKey, claim)]
      },
    },
    {
      name: 'migration, dbc',
      sdk: DBC_SDK,
      hasTrial: true,
      async build() {
        const payer = platform.publicKey.toBase58()
        const curve = await readDbcPool(context.chain, full)
        if (curve === null) throw new Error('the pool is not there')
        const positionSeeds = [randomBytes(32), randomBytes(32)] as const
        return buildTransaction(context, {
          payer,
          fallbackUnits: MIGRATION_UNITS.migrate,
          build: (envelope) => buildMigrationStep({ ...envelope, pool: curve, positionSeeds }),
        })
      },
      async call() {
        const state = await client.state.getPoolConfig(fullConfig)
        const dammConfig = DAMM_V2_MIGRATION_FEE_ADDRESS[state?.migrationFeeOption ?? 0] ?? PublicKey.default
        const migration = await client.migration.migrateToDammV2({
          payer: platform.publicKey,
          pool: fullPool,
          dammConfig,
        })
        return [part(platform.publicKey, migration.transaction)]
      },
    },
  ]
}

async function dammV2Kinds(stage: Stage): Promise<BuildKind[]> {
  const { context, connection, user, platform } = stage
  const client = new cpAmm.CpAmm(connection)
  const [mint, positionNft] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
  const address = await landedPool(stage, platform, { type: 'damm_v2' })
  const pool = new PublicKey(address)
  const accountsOf = (state: Awaited<ReturnType<typeof client.fetchPoolState>>) => ({
    pool,
    tokenAMint: state.tokenAMint,
    tokenBMint: state.tokenBMint,
    tokenAVault: state.tokenAVault,
    tokenBVault: state.tokenBVault,
    tokenAProgram: TOKEN_PROGRAM_ID,
    tokenBProgram: TOKEN_PROGRAM_ID,
  })
  return [
    {
      name: 'launch, damm_v2',
      sdk: `${CP_AMM_SDK}, spl-token`,
      hasTrial: false,
      build: () => planLaunch(context, launchInput(stage, user, { type: 'damm_v2' })),
      call: () => dammV2Launch(stage, client, mint, positionNft),
    },
    {
      name: 'swap with its quote, damm_v2',
      sdk: CP_AMM_SDK,
      hasTrial: true,
      build: () => swapPool(context, buyOf(stage, address, BUY)),
      async call() {
        const [state, slot] = await Promise.all([client.fetchPoolState(pool), connection.getSlot('confirmed')])
        const currentTime = (await connection.getBlockTime(slot)) ?? 0
        const amountIn = new BN(BUY.toString())
        const { minSwapOutAmount } = client.getQuote({
          inAmount: amountIn,
          inputTokenMint: NATIVE_MINT,
          slippage: SLIPPAGE_BPS / 100,
          poolState: state,
          currentTime,
          currentSlot: slot,
          tokenADecimal: 6,
          tokenBDecimal: 9,
        })
        const swap = await client.swap({
          ...accountsOf(state),
          payer: user.publicKey,
          inputTokenMint: NATIVE_MINT,
          outputTokenMint: state.tokenAMint,
          amountIn,
          minimumAmountOut: minSwapOutAmount,
          referralTokenAccount: null,
          poolState: state,
        })
        return [part(user.publicKey, swap)]
      },
    },
    {
      name: 'fee claim, damm_v2',
      sdk: CP_AMM_SDK,
      hasTrial: true,
      build: () => planClaim(context, { address, kind: 'damm_v2' }, platform.publicKey.toBase58()),
      async call() {
        const state = await client.fetchPoolState(pool)
        const [position] = await client.getUserPositionByPool(pool, platform.publicKey)
        if (position === undefined) throw new Error('the position is not there')
        const claim = await client.claimPositionFee({ ...accountsOf(state), ...position, owner: platform.publicKey })
        return [part(platform.publicKey, claim)]
      },
    },
  ]
}

/** `mint` and `positionNft` are addresses of fresh keys. */
async function dammV2Launch(stage: Stage, client: cpAmm.CpAmm, mint: PublicKey, positionNft: PublicKey) {
  const { connection, user, context } = stage
  const { curve } = await curveNamed(context.config, undefined)
  const token = await tokenInstructions(connection, user.publicKey, mint, { ...LAUNCH, supply: curve.totalSupply })
  const [initSqrtPrice, tokenAAmount] = [cpAmm.MIN_SQRT_PRICE.muln(1_000_000), new BN(curve.totalSupply.toString())]
  const sqrtMaxPrice = cpAmm.MAX_SQRT_PRICE
  const liquidityDelta = cpAmm.getLiquidityDeltaFromAmountA(
    tokenAAmount,
    initSqrtPrice,
    sqrtMaxPrice,
    cpAmm.CollectFeeMode.OnlyB,
  )
  const { FeeTimeSchedulerLinear } = cpAmm.BaseFeeMode
  const created = await client.createCustomPool({
    payer: user.publicKey,
    creator: user.publicKey,
    positionNft,
    tokenAMint: mint,
    tokenBMint: NATIVE_MINT,
    tokenAAmount,
    tokenBAmount: new BN(1),
    sqrtMinPrice: initSqrtPrice,
    sqrtMaxPrice,
    liquidityDelta,
    initSqrtPrice,
    poolFees: {
      baseFee: cpAmm.getFeeTimeSchedulerParams(POOL_FEE_BPS, POOL_FEE_BPS, FeeTimeSchedulerLinear, 0, 0),
      compoundingFeeBps: 0,
      padding: 0,
      dynamicFee: null,
    },
    hasAlphaVault: false,
    activationType: cpAmm.ActivationType.Timestamp,
    collectFeeMode: cpAmm.CollectFeeMode.OnlyB,
    activationPoint: null,
    tokenAProgram: TOKEN_PROGRAM_ID,
    tokenBProgram: TOKEN_PROGRAM_ID,
    isLockLiquidity: true,
  })
  return [{ payer: user.publicKey, instructions: token }, part(user.publicKey, created.tx)]
}
