/** What the platform does with pools itself, run for real: it passes, and counts as what it costs and no more. */
import { NATIVE_MINT } from '@solana/spl-token'
import { ComputeBudgetProgram, Keypair, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  buildPositionClaim,
  buildSingleSidedPool,
  dammV2PoolAddress as dammPoolAddress,
  readDammV2Pool,
  readPositions,
  buildDammV2Swap as swapInDammV2,
} from '../../src/chain/programs/damm-v2/index.ts'
import {
  buildCreationFeeWithdrawal,
  buildCurve,
  buildDbcLaunch,
  buildDbcSwap,
  buildLeftoverWithdrawal,
  buildQuoteWithdrawal,
  buildTradingFeeClaim,
  type DbcPool,
  dbcPoolAddress,
  type LaunchCurve,
  MIGRATION_UNITS,
  migratedPoolAddress,
  readDbcPool,
  vestingEscrowAddress,
} from '../../src/chain/programs/dbc/index.ts'
import { buildMigrationStep } from '../../src/chain/programs/dbc/migration.ts'
import { onLock, readLocks } from '../../src/chain/programs/jupiter-lock/index.ts'
import { spendOf } from '../../src/policy/rules/spend.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { presetWith } from '../support/dbc.ts'
import { earningCurve } from '../support/earning-curves.ts'
import { hasProgram } from '../support/programs.ts'
import { openScene, type Scene, SOL, text } from './movements-support.ts'

const NEEDED = [PROGRAMS.dbc, PROGRAMS.tokenMetadata, PROGRAMS.dammV2, PROGRAMS.lock]
const FEE = 5_000n
const blockhashOf = ({ local }: Scene) => local.latestBlockhash().blockhash

interface Built {
  transaction: Uint8Array
}

/** Judged with caps that are exactly what it counts as, then landed; its movement, and what the wallet had less then. */
async function passes(scene: Scene, built: Built, keys: Keypair[] = []) {
  const movement = await scene.readBuilt(built)
  expect(movement).toMatchObject({ err: null, stable: true, unread: [] })
  const { lamports, tokens } = spendOf(movement)
  const policy = {
    lamports_per_transaction: lamports,
    tokens: tokens.map(({ mint, amount }) => ({ mint, per_transaction: amount, per_day: amount })),
  }
  const cosigners = keys.map(({ publicKey }) => text(publicKey))
  expect(scene.ruleOf(movement, { cosigners, policy })).toBeNull()
  const before = scene.lamportsOf(scene.key)
  const { staticAccountKeys, header } = VersionedTransaction.deserialize(built.transaction).message
  const asked = staticAccountKeys.slice(0, header.numRequiredSignatures).map(text)
  scene.sendBuilt(
    built,
    [scene.wallet, ...keys].filter(({ publicKey }) => asked.includes(text(publicKey))),
  )
  scene.local.advance(1)
  return { movement, lamports, tokens, paid: before - scene.lamportsOf(scene.key) }
}

describe.skipIf(!NEEDED.every(({ id }) => hasProgram(id)))('the policy check with the programs of pools', () => {
  async function launched(curve?: LaunchCurve) {
    const scene = await openScene({ programs: true })
    const [mint, config] = [Keypair.generate(), Keypair.generate()]
    const names = { mint: text(mint.publicKey), config: text(config.publicKey) }
    const launch = await buildDbcLaunch({
      ...names,
      creator: scene.address,
      feeClaimer: scene.address,
      leftoverReceiver: scene.address,
      curve: curve ?? (await buildCurve(presetWith())),
      name: 'Test Coin',
      symbol: 'TST',
      uri: 'https://example.com/coin.json',
      buyLamports: 2n * SOL,
      tip: null,
      recentBlockhash: blockhashOf(scene),
      computeUnitPrice: 0n,
    })
    const landed = []
    for (const built of launch) landed.push(await passes(scene, built, [mint, config]))
    const address = await dbcPoolAddress(names)
    const read = async (): Promise<DbcPool> => (await readDbcPool(scene.chain, address))!
    return { scene, read, landed, mint }
  }

  const buy = async (scene: Scene, trader: Keypair, pool: DbcPool, amount: bigint) => {
    const order = { payer: text(trader.publicKey), pool, side: 'buy' as const, amount, minimumOut: 0n }
    scene.sendBuilt(await buildDbcSwap({ ...order, recentBlockhash: blockhashOf(scene) }), [trader])
    scene.local.advance(1)
  }

  it('passes a launch on a curve with a first buy', async () => {
    const { landed, mint } = await launched()
    const last = landed.at(-1)!
    expect(last.lamports).toBe(last.paid)
    expect(last.tokens).toEqual([])
    expect(last.movement.destinations.some((each) => each.mint === text(mint.publicKey))).toBe(true)
  })

  it('passes a claim of the partner, which costs its splits', async () => {
    const { scene, read } = await launched()
    const trader = scene.funded(1_000n * SOL)
    await buy(scene, trader, await read(), 50n * SOL)
    const recipients = [3n, 4n].map((part) => ({ part, recipient: text(scene.funded(SOL).publicKey) }))
    for (const open of [false, true]) {
      // Whether the wallet's wrapped SOL is there before or not.
      if (open) {
        scene.wrapped(7n * SOL)
        await buy(scene, trader, await read(), 50n * SOL)
      }
      const pool = await read()
      const lamports = pool.partnerQuoteFee
      expect(lamports).toBeGreaterThan(0n)
      const splits = recipients.map(({ part, recipient }) => ({ recipient, amount: lamports / part }))
      const split = lamports / 3n + lamports / 4n
      const party = { beneficiary: 'partner' as const, claimer: scene.address }
      const claim = { payer: scene.address, pool, ...party, amount: lamports, splits }
      const made = await passes(scene, await buildTradingFeeClaim({ ...claim, recentBlockhash: blockhashOf(scene) }))
      expect(made.movement.lamports_to_others).toBe(split)
      expect(made.lamports).toBe(split + FEE)
      expect(made.tokens).toEqual([])
    }
  })

  it('passes claims of every kind by the wallet, as partner and creator, for fee and rents', async () => {
    const { scene, read } = await launched(await earningCurve({ bothTokens: true }))
    const trader = scene.funded(1_000n * SOL)
    await buy(scene, trader, await read(), 900n * SOL)
    const claims = async (build: (pool: DbcPool) => Promise<Built>, rent = 0n) => {
      const made = await passes(scene, await build(await read()))
      expect([made.lamports, made.tokens]).toEqual([FEE + rent, []])
      expect(made.movement.lamports_to_others).toBe(0n)
    }
    const payer = scene.address
    const terms = () => ({ payer, recentBlockhash: blockhashOf(scene) })
    await claims((pool) => buildCreationFeeWithdrawal({ ...terms(), pool }))
    for (const beneficiary of ['partner', 'creator'] as const) {
      for (const kind of ['surplus', 'migration_fee'] as const) {
        const party = { kind, beneficiary, claimer: payer }
        await claims((pool) => buildQuoteWithdrawal({ ...terms(), ...party, pool }))
      }
    }
    while (!(await read()).isMigrated) {
      const before = [ComputeBudgetProgram.setComputeUnitLimit({ units: MIGRATION_UNITS.migrate })]
      const step = await buildMigrationStep({ ...terms(), pool: await read(), before })
      const keys = step.secretKeys.map((secret) => Keypair.fromSecretKey(secret))
      await passes(scene, step, keys)
    }
    await claims((pool) => buildLeftoverWithdrawal({ ...terms(), pool }))
    for (const beneficiary of ['partner', 'creator'] as const) {
      const party = { beneficiary, claimer: payer, splits: [] }
      const owed = (pool: DbcPool) => (beneficiary === 'creator' ? pool.creatorQuoteFee : pool.partnerQuoteFee)
      await claims((pool) => buildTradingFeeClaim({ ...terms(), ...party, pool, amount: owed(pool) }))
    }
    scene.local.advance(30 * 86_400)
    const { escrows } = await readLocks(scene.chain, [await vestingEscrowAddress((await read()).address)])
    const lock = escrows[0]!
    await claims(() => onLock(terms(), lock, ({ claim }) => claim(terms().payer, lock.recipient, 10n ** 14n)))
    const pool = (await readDammV2Pool(scene.chain, await migratedPoolAddress(await read())))!
    const order = { payer: text(trader.publicKey), pool, side: 'buy' as const, amount: SOL, minimumOut: 0n }
    scene.sendBuilt(await swapInDammV2({ ...order, recentBlockhash: blockhashOf(scene) }), [trader])
    scene.local.advance(1)
    const positions = await readPositions(scene.chain, pool.address, payer)
    expect(positions).toHaveLength(2)
    const owned = { owner: payer, pool, positions, recentBlockhash: blockhashOf(scene) }
    await claims(async () => (await buildPositionClaim(owned))[0]!)
  })

  it('passes a migration that the wallet pays', async () => {
    const { scene, read } = await launched()
    const trader = scene.funded(1_000n * SOL)
    await buy(scene, trader, await read(), 900n * SOL)
    const step = await buildMigrationStep({
      payer: scene.address,
      pool: await read(),
      recentBlockhash: blockhashOf(scene),
    })
    expect(step.step).toBe('migrate')
    const keys = step.secretKeys.map((secret) => Keypair.fromSecretKey(secret))
    const made = await passes(scene, step, keys)
    // Rents, and nothing of what is in the curve.
    expect(made.lamports).toBeLessThan(SOL / 10n)
    expect(made.tokens).toEqual([])
  })

  it('passes a pool of its own, its trades and the fees of its position', async () => {
    const scene = await openScene({ programs: true })
    const [mint, nft] = [Keypair.generate(), Keypair.generate()]
    const supply = 10n ** 15n
    const launch = await buildSingleSidedPool({
      creator: scene.address,
      mint: text(mint.publicKey),
      positionNft: text(nft.publicKey),
      name: 'Test Coin',
      symbol: 'TST',
      uri: 'https://example.com/coin.json',
      decimals: 6,
      totalSupply: supply,
      initialMarketCapLamports: 30n * SOL,
      feeBps: 100,
      lockLiquidity: true,
      platform: null,
      buyLamports: SOL,
      tip: null,
      recentBlockhash: blockhashOf(scene),
      rent: scene.local.minimumBalance(82),
      computeUnitPrice: 0n,
    })
    const [, created] = [await passes(scene, launch[0]!, [mint]), await passes(scene, launch[1]!, [nft])]
    expect(created!.tokens).toEqual([{ mint: text(mint.publicKey), amount: supply }])
    const pool = (await readDammV2Pool(scene.chain, await dammPoolAddress({ mint: text(mint.publicKey) })))!
    const order = { payer: scene.address, pool, side: 'buy' as const, amount: 5n * SOL, minimumOut: 0n }
    const bought = await passes(scene, await swapInDammV2({ ...order, recentBlockhash: blockhashOf(scene) }))
    expect([bought.lamports, bought.paid]).toEqual([5n * SOL + FEE, 5n * SOL + FEE])
    const positions = await readPositions(scene.chain, pool.address, scene.address)
    const claim = { owner: scene.address, pool, positions, recentBlockhash: blockhashOf(scene) }
    const claimed = await passes(scene, (await buildPositionClaim(claim))[0]!)
    expect(claimed.paid).toBeLessThan(0n)
    expect([claimed.lamports, claimed.tokens]).toEqual([FEE, []])
    expect(pool.tokenBMint).toBe(text(NATIVE_MINT))
  })
})
