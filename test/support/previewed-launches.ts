/** Launches run by the real programs beside their previews: the same trades, compared to the raw unit. */
import { ComputeBudgetProgram, Keypair } from '@solana/web3.js'
import { expect } from 'vitest'
import { decodeDammV2Pool } from '../../src/chain/programs/damm-v2/program.ts'
import {
  buildConfig,
  buildDbcSwap,
  buildMigrationStep,
  buildWholeDbcLaunch,
  type CurvePreview,
  type DbcPool,
  dbcPoolAddress,
  type LaunchCurve,
  migratedPoolAddress,
  migrationStep,
  previewCurve,
  readDbcPool,
} from '../../src/chain/programs/dbc/index.ts'
import { callsOf } from '../../src/chain/programs/dbc/launch-rehearsal.ts'
import { openDbc } from '../../src/chain/programs/dbc/program.ts'
import { openRehearsalChain } from '../../src/localnet/rehearsal-chain.ts'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import { addressOf, CREATOR, KEEPER, launchOf } from './dbc.ts'
import { PROGRAMS_DIR, START_MS } from './local-chain.ts'
import { putMint, putTokens, QUOTES } from './quotes.ts'

const mostUnits = ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 })
const BLOCKHASH = '11111111111111111111111111111111'
/** More lamports than any buyer of these tests needs. */
const RICH = 2n ** 62n

export type PreviewedChain = Awaited<ReturnType<typeof openPreviewedChain>>

export async function openPreviewedChain() {
  const chain = await openRehearsalChain({ programsDir: PROGRAMS_DIR, now: START_MS })
  const { coder } = await openDbc()
  const opened = {
    ...chain,
    setAccount: (address: string, account: ChainAccount) => chain.set(address, account),
    fund: (address: string, lamports = RICH) =>
      chain.set(address, { lamports, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }),
    lamports: (address: string) => chain.account(address)?.lamports ?? 0n,
    land(transaction: Uint8Array) {
      const { err, logs } = chain.run(transaction)
      expect(err, logs.join('\n')).toBeNull()
    },
    state: (pool: string) => coder.decode('virtualPool', Buffer.from(chain.account(pool)?.data ?? [])).poolState,
    /** Raw units in a token account. */
    tokens: (address: string) => Buffer.from(chain.account(address)?.data ?? []).readBigUInt64LE(64),
    async read(address: string): Promise<DbcPool> {
      const pool = await readDbcPool(callsOf(chain), address)
      expect(pool).not.toBeNull()
      return pool!
    },
  }
  for (const quote of QUOTES) putMint(opened, quote)
  return opened
}

export interface PreviewedLaunch {
  buy: bigint
  points: number
  seconds: number
}

/** Makes the launch and the buys that the preview assumes, and compares every point. Returns the full pool. */
export async function expectSameCurve(chain: PreviewedChain, curve: LaunchCurve, options: PreviewedLaunch) {
  const preview = await previewCurve(curve, options)
  const [mint, config] = [Keypair.generate(), Keypair.generate()]
  const [, { amount: first }, ...later] = [preview.points[0], preview.points[1]!, ...preview.points.slice(2)]
  const isBought = options.buy > 0n
  const launch = {
    ...(await launchOf(BLOCKHASH, { curve, buyLamports: options.buy })),
    mint: addressOf(mint),
    config: addressOf(config),
  }
  const quote = QUOTES.find(({ mint }) => mint === curve.quoteMint)
  for (const owner of [CREATOR, KEEPER]) {
    chain.fund(addressOf(owner))
    if (quote !== undefined) putTokens(chain, quote, { owner, amount: RICH })
  }
  const envelope = { payer: addressOf(CREATOR), recentBlockhash: BLOCKHASH, before: [mostUnits] }
  chain.land((await buildConfig({ ...envelope, ...launch })).transaction)
  chain.land((await buildWholeDbcLaunch({ ...envelope, ...launch, isConfigShared: true })).transaction)
  const pool = await chain.read(await dbcPoolAddress({ ...launch, quoteMint: curve.quoteMint }))
  const expectPoint = (point: CurvePreview['points'][number]) => {
    const state = chain.state(pool.address)
    const held = (amounts: typeof point.quoteFees) => Object.values(amounts).reduce((sum, each) => sum + each, 0n)
    expect({
      sqrtPrice: String(state.sqrtPrice),
      quoteReserve: String(state.quoteReserve),
      baseReserve: String(state.baseReserve),
      quote: [state.creatorQuoteFee, state.partnerQuoteFee, state.protocolQuoteFee].map(String),
      base: [state.creatorBaseFee, state.partnerBaseFee, state.protocolBaseFee].map(String),
      vaults: [chain.tokens(pool.quoteVault), chain.tokens(pool.baseVault)],
    }).toEqual({
      sqrtPrice: String(point.sqrtPrice),
      quoteReserve: String(point.quoteReserve),
      baseReserve: String(preview.supply - point.baseSold - held(point.baseFees)),
      quote: [point.quoteFees.creator, point.quoteFees.partner, point.quoteFees.protocol].map(String),
      base: [point.baseFees.creator, point.baseFees.partner, point.baseFees.protocol].map(String),
      vaults: [point.paid, preview.supply - point.baseSold],
    })
  }
  if (isBought) expectPoint(preview.points[1]!)
  else expect(first).toBeGreaterThan(0n)
  if (options.seconds > 0) chain.advance(options.seconds)
  for (const point of isBought ? later : preview.points.slice(1)) {
    const order = { payer: addressOf(KEEPER), side: 'buy' as const, minimumOut: 0n, recentBlockhash: BLOCKHASH }
    const buy = { ...order, before: [mostUnits], pool, amount: point.amount }
    chain.land((await buildDbcSwap(buy)).transaction)
    expectPoint(point)
  }
  expect(preview.points.at(-1)?.at).toBe('end')
  return { pool: await chain.read(pool.address), preview }
}

/** Migrates the pool, and compares what becomes of its reserves. */
export async function expectSameMigration(chain: PreviewedChain, full: DbcPool, { migration }: CurvePreview) {
  const planned = migration!
  let pool = full
  while (migrationStep(pool) !== 'done') {
    const envelope = { payer: addressOf(KEEPER), recentBlockhash: BLOCKHASH, before: [mostUnits] }
    const step = await buildMigrationStep({ pool, ...envelope })
    chain.land(step.transaction)
    pool = await chain.read(pool.address)
  }
  const { sdk, key } = await openDbc()
  const address = await migratedPoolAddress(pool)
  const account = chain.account(address)!
  const damm = (await decodeDammV2Pool({ ...account, data: Buffer.from(account.data) }))!
  const vault = (mint: string) => chain.tokens(sdk.deriveDammV2TokenVaultAddress(key(address), key(mint)).toBase58())
  const state = chain.state(pool.address)
  expect({
    sqrtPrice: String(damm.sqrtPrice),
    liquidity: String(damm.liquidity),
    deposit: { base: vault(pool.baseMint), quote: vault(pool.quoteMint) },
    protocolFee: {
      base: String(state.protocolMigrationBaseFeeAmount),
      quote: String(state.protocolMigrationQuoteFeeAmount),
    },
    partnerSurplus: full.surplus.claimable,
  }).toEqual({
    sqrtPrice: String(planned.sqrtPrice),
    liquidity: String(planned.liquidity),
    deposit: planned.deposit,
    protocolFee: { base: String(planned.protocolFee.base), quote: String(planned.protocolFee.quote) },
    partnerSurplus: planned.surplus.partner,
  })
  const baseFees = [state.creatorBaseFee, state.partnerBaseFee, state.protocolBaseFee].map((each) =>
    BigInt(String(each)),
  )
  const leftover = chain.tokens(pool.baseVault) - baseFees.reduce((sum, each) => sum + each, planned.protocolFee.base)
  expect(leftover).toBe(planned.leftoverBase)
}
