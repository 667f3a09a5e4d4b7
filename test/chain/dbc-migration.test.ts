/** From a full curve to its DAMM v2 pool by the real programs, and what transactions show of it all. */
import { DAMM_V2_MIGRATION_FEE_ADDRESS, DynamicBondingCurveIdl } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  buildCurve,
  buildDbcLaunch,
  buildDbcSwap,
  buildMigrationStep,
  buildQuoteWithdrawal,
  buildTradingFeeClaim,
  dbcChangesIn,
  MIGRATION_UNITS,
  migratedPoolAddress,
  migrationStep,
} from '../../src/chain/programs/dbc/index.ts'
import { compileUnsigned, type UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { freshKey } from '../../src/solana/signatures.ts'
import {
  addressOf,
  CONFIG,
  CREATOR,
  goldenPool,
  KEEPER,
  LOCKED,
  lacksDbc,
  launchOf,
  MINT,
  openDbcChain,
  PARTNER,
  presetWith,
  TRADER,
} from '../support/dbc.ts'
import { expectGolden, GOLDEN_BLOCKHASH, goldenKey, RECORDING } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { inSoak } from '../support/runs.ts'

const SEEDS = [new Uint8Array(32).fill(41), new Uint8Array(32).fill(42)] as const
const before = [ComputeBudgetProgram.setComputeUnitLimit({ units: MIGRATION_UNITS.migrate })]
const common = { payer: addressOf(KEEPER), recentBlockhash: GOLDEN_BLOCKHASH, before }
const changes = ({ transaction }: UnsignedTransaction) => dbcChangesIn(decodeWireTransaction(transaction).message)

describe.skipIf(lacksDbc)('a migration on chain (needs DBC, DAMM v2, Metaplex and Lock in the cache)', () => {
  for (const bps of inSoak ? [25, 30, 100, 200, 400, 600] : [25, 600]) {
    it(`leads to the pool whose address was predicted, with a fee of ${bps} bps`, { tags: 'sampled' }, async () => {
      const opened = await openDbcChain()
      const curve = await buildCurve(presetWith({ migration_fee_bps: bps }))
      let pool = await opened.launch({ curve })
      const address = await migratedPoolAddress(pool)
      expect(migrationStep(pool)).toBe('not_full')
      await expect(buildMigrationStep({ ...common, pool })).rejects.toMatchObject({ code: 'bad_request' })
      pool = await opened.fill(pool)
      expect(migrationStep(pool)).toBe('migrate')
      const step = await buildMigrationStep({ ...common, pool })
      expect(step).toMatchObject({ step: 'migrate', dammPoolAddress: address })
      expect(step.requiredSigners).toEqual([
        addressOf(KEEPER),
        ...step.secretKeys.map((secret) => addressOf(Keypair.fromSecretKey(secret))).sort(byKey(step)),
      ])
      expect(opened.chain.account(address)).toBeNull()
      expect(opened.land(step, step.secretKeys), opened.logs.join('\n')).toBeNull()
      expect(opened.chain.account(address)?.owner).toBe(PROGRAMS.dammV2.id)
      pool = await opened.read(pool.address)
      expect(pool).toMatchObject({ isMigrated: true, migrationProgress: 3 })
      expect(migrationStep(pool)).toBe('done')
      await expect(buildMigrationStep({ ...common, pool })).rejects.toMatchObject({ code: 'bad_request' })
      // Fees that were not claimed before stay claimable.
      const claim = {
        pool,
        beneficiary: 'partner' as const,
        claimer: addressOf(PARTNER),
        payer: addressOf(PARTNER),
        amount: pool.partnerQuoteFee,
        splits: [],
      }
      expect(opened.land(await buildTradingFeeClaim({ ...claim, recentBlockhash: GOLDEN_BLOCKHASH }))).toBeNull()
    })
  }

  it('locks the vesting first if there is one, and each step works once', async ({ annotate }) => {
    const opened = await openDbcChain()
    const curve = await buildCurve(
      presetWith({ locked_vesting: { ...LOCKED, cliff_amount: '50', cliff_seconds: 3_600 } }),
    )
    let pool = await opened.fill(await opened.launch({ curve }))
    expect(migrationStep(pool)).toBe('create_locker')
    const early = await buildMigrationStep({ ...common, pool: { ...pool, migrationProgress: 2 } })
    expect(opened.land(early, early.secretKeys)).not.toBeNull()
    const lock = await buildMigrationStep({ ...common, pool })
    expect(lock).toMatchObject({ step: 'create_locker', secretKeys: [], requiredSigners: [addressOf(KEEPER)] })
    expect(opened.land(lock), opened.logs.join('\n')).toBeNull()
    const lockUnits = opened.units
    expect(opened.land(lock)).not.toBeNull()
    const escrow = decodeWireTransaction(lock.transaction).message.keys.find(
      (key) => opened.chain.account(key)?.owner === PROGRAMS.lock.id,
    )
    expect(escrow).toBeDefined()
    pool = await opened.read(pool.address)
    expect(migrationStep(pool)).toBe('migrate')
    const migrate = await buildMigrationStep({ ...common, pool })
    expect(opened.land(migrate, migrate.secretKeys), opened.logs.join('\n')).toBeNull()
    await annotate(`locker ${lockUnits}, migrate ${opened.units}`, 'units')
    const again = await buildMigrationStep({ ...common, pool })
    expect(opened.land(again, again.secretKeys)).not.toBeNull()
    expect(migrationStep(await opened.read(pool.address))).toBe('done')
  })
})

describe('a migration', () => {
  it.skipIf(RECORDING && lacksDbc)('is built as recorded', async ({ annotate }) => {
    const pool = await goldenPool({ migrationProgress: 2 })
    const step = await buildMigrationStep({ ...common, pool, positionKeys: [freshKey(SEEDS[0]), freshKey(SEEDS[1])] })
    const bytes = await expectGolden('dbc-migrate', step.transaction, async () => {
      const opened = await openDbcChain()
      await opened.fill(await opened.launch())
      return opened.test
    })
    await annotate(`migrate: ${bytes} bytes`, 'size')
  })

  it.skipIf(RECORDING && lacksDbc)('with locked vesting starts as recorded', async ({ annotate }) => {
    const step = await buildMigrationStep({ ...common, pool: await goldenPool({ migrationProgress: 1 }) })
    const bytes = await expectGolden('dbc-create-locker', step.transaction, async () => {
      const opened = await openDbcChain()
      await opened.fill(await opened.launch({ curve: await buildCurve(presetWith({ locked_vesting: LOCKED })) }))
      return opened.test
    })
    await annotate(`create_locker: ${bytes} bytes`, 'size')
  })

  it('draws new keys for its positions each time', async () => {
    const pool = await goldenPool({ migrationProgress: 2 })
    const built = await Promise.all([1, 2].map(() => buildMigrationStep({ ...common, pool })))
    expect(
      new Set(built.flatMap(({ secretKeys }) => secretKeys.map((key) => Buffer.from(key).toString('hex')))).size,
    ).toBe(4)
  })

  it('uses the config that the program cache clones, and no other family', async () => {
    expect(DAMM_V2_MIGRATION_FEE_ADDRESS.map((key) => key.toBase58())).toEqual([...PROGRAMS.dammV2.accounts])
    const refusal = { code: 'bad_request', param: 'address' }
    for (const wrong of [{ migrationOption: 0 }, { migrationFeeOption: 7 }]) {
      await expect(migratedPoolAddress(await goldenPool(wrong))).rejects.toMatchObject(refusal)
    }
  })
})

describe('a transaction shows', () => {
  const claimer = addressOf(PARTNER)
  const recentBlockhash = GOLDEN_BLOCKHASH

  it('a launch, with its first buy', async () => {
    const { address } = await goldenPool()
    const created = {
      kind: 'pool_created',
      pool: address,
      config: addressOf(CONFIG),
      mint: addressOf(MINT),
      creator: addressOf(CREATOR),
    }
    const [whole] = await buildDbcLaunch(await launchOf(GOLDEN_BLOCKHASH))
    expect(changes(whole!)).toEqual([created])
    const [config, pool] = await buildDbcLaunch(await launchOf(GOLDEN_BLOCKHASH, { buyLamports: SOL }))
    expect(changes(config!)).toEqual([])
    expect(changes(pool!)).toEqual([created, { kind: 'swap', pool: address, trader: addressOf(CREATOR) }])
  })

  it('a swap', async () => {
    const pool = await goldenPool()
    for (const side of ['buy', 'sell'] as const) {
      const order = { payer: addressOf(TRADER), pool, side, amount: 5n, minimumOut: 0n, recentBlockhash }
      expect(changes(await buildDbcSwap(order))).toEqual([
        { kind: 'swap', pool: pool.address, trader: addressOf(TRADER) },
      ])
    }
  })

  it('a claim with the transfers that the claimer pays', async () => {
    const pool = await goldenPool()
    const splits = [60, 61, 62].map((seed, i) => ({ recipient: addressOf(goldenKey(seed)), amount: BigInt(i + 1) }))
    const pays = (from: Keypair, lamports: bigint) =>
      SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: goldenKey(63).publicKey, lamports })
    const party = { beneficiary: 'partner' as const, claimer }
    const claim = { pool, ...party, payer: addressOf(KEEPER), amount: 2n ** 63n, splits, recentBlockhash }
    const told = {
      kind: 'claim',
      pool: pool.address,
      ...party,
      lamports: 2n ** 63n,
      recipients: splits.map(({ recipient, amount }) => ({ recipient, lamports: amount })),
    }
    expect(
      changes(await buildTradingFeeClaim({ ...claim, before: [pays(PARTNER, 9n)], after: [pays(KEEPER, 9n)] })),
    ).toEqual([told])
    expect(changes(await buildTradingFeeClaim({ ...claim, splits: [] }))).toEqual([{ ...told, recipients: [] }])
  })

  it('a surplus and both steps of a migration', async () => {
    const pool = await goldenPool()
    const party = { kind: 'surplus', beneficiary: 'partner', claimer } as const
    const surplus = await buildQuoteWithdrawal({ ...party, pool, payer: claimer, recentBlockhash })
    expect(changes(surplus)).toEqual([{ kind: 'surplus', pool: pool.address, beneficiary: 'partner', claimer }])
    const step = (migrationProgress: number) => buildMigrationStep({ ...common, pool: { ...pool, migrationProgress } })
    const [lock, migrate] = [await step(1), await step(2)]
    const migration = { kind: 'migration', pool: pool.address }
    expect(changes(lock)).toEqual([{ ...migration, step: 'create_locker', dammPool: null }])
    expect(changes(migrate)).toEqual([{ ...migration, step: 'migrate', dammPool: await migratedPoolAddress(pool) }])
  })

  it('nothing for other programs, other instructions, and instructions that lack accounts or data', async () => {
    const program = new PublicKey(PROGRAMS.dbc.id)
    const { discriminator } = DynamicBondingCurveIdl.instructions.find(({ name }) => name === 'claim_trading_fee')!
    const keys = Array.from({ length: 14 }, (_, i) => ({
      pubkey: goldenKey(50 + i).publicKey,
      isSigner: false,
      isWritable: true,
    }))
    const data = Buffer.concat([Buffer.from(discriminator), Buffer.alloc(16)])
    const attempts = [
      new TransactionInstruction({ programId: program, keys: keys.slice(0, 9), data }),
      new TransactionInstruction({ programId: program, keys, data: data.subarray(0, 20) }),
      new TransactionInstruction({ programId: program, keys, data: Buffer.alloc(0) }),
      new TransactionInstruction({ programId: program, keys, data: Buffer.alloc(24, 0xff) }),
      new TransactionInstruction({ programId: goldenKey(49).publicKey, keys, data }),
    ]
    for (const each of attempts) expect(changes(await compileUnsigned(common, [each]))).toEqual([])
  })

  it('the discriminators and the places of accounts as in the IDL of the SDK', async () => {
    const expected: Record<string, { kind: string } & Record<string, string>> = {
      initialize_virtual_pool_with_spl_token: {
        kind: 'pool_created',
        config: 'config',
        pool: 'pool',
        mint: 'base_mint',
        creator: 'creator',
      },
      initialize_virtual_pool_with_token2022: {
        kind: 'pool_created',
        config: 'config',
        pool: 'pool',
        mint: 'base_mint',
        creator: 'creator',
      },
      initialize_virtual_pool_with_token2022_transfer_hook: {
        kind: 'pool_created',
        config: 'config',
        pool: 'pool',
        mint: 'base_mint',
        creator: 'creator',
      },
      swap: { kind: 'swap', pool: 'pool', trader: 'payer' },
      swap2: { kind: 'swap', pool: 'pool', trader: 'payer' },
      swap2_with_transfer_hook: { kind: 'swap', pool: 'pool', trader: 'payer' },
      claim_trading_fee: { kind: 'claim', pool: 'pool', claimer: 'fee_claimer' },
      claim_trading_fee2: { kind: 'claim', pool: 'pool', claimer: 'fee_claimer' },
      claim_creator_trading_fee: { kind: 'claim', pool: 'pool', claimer: 'creator' },
      claim_creator_trading_fee2: { kind: 'claim', pool: 'pool', claimer: 'creator' },
      partner_withdraw_surplus: { kind: 'surplus', pool: 'virtual_pool', claimer: 'fee_claimer' },
      creator_withdraw_surplus: { kind: 'surplus', pool: 'virtual_pool', claimer: 'creator' },
      withdraw_migration_fee: { kind: 'migration_fee', pool: 'virtual_pool', claimer: 'sender' },
      withdraw_leftover: { kind: 'leftover', pool: 'virtual_pool', claimer: 'leftover_receiver' },
      claim_partner_pool_creation_fee: { kind: 'pool_creation_fee', pool: 'pool', claimer: 'fee_claimer' },
      transfer_pool_creator: {
        kind: 'creator_transferred',
        pool: 'virtual_pool',
        creator: 'creator',
        newCreator: 'new_creator',
      },
      create_locker: { kind: 'migration', pool: 'virtual_pool' },
      migration_damm_v2: { kind: 'migration', pool: 'virtual_pool', dammPool: 'pool' },
    }
    let seen = 0
    for (const instruction of DynamicBondingCurveIdl.instructions) {
      // More than these do not fit, and none behind them is read.
      const keys = instruction.accounts.slice(0, 15).map((_, i) => ({
        pubkey: goldenKey(100 + i).publicKey,
        isSigner: false,
        isWritable: true,
      }))
      const data = Buffer.concat([Buffer.from(instruction.discriminator), Buffer.alloc(32)])
      const built = await compileUnsigned(common, [
        new TransactionInstruction({ programId: new PublicKey(PROGRAMS.dbc.id), keys, data }),
      ])
      const wanted = expected[instruction.name]
      if (wanted === undefined) {
        expect(changes(built), instruction.name).toEqual([])
        continue
      }
      seen++
      const at = (name: string) =>
        addressOf(goldenKey(100 + instruction.accounts.findIndex((account) => account.name === name)))
      const { kind, ...places } = wanted
      const named = Object.fromEntries(Object.entries(places).map(([field, name]) => [field, at(name)]))
      expect(changes(built), instruction.name).toEqual([expect.objectContaining({ kind, ...named })])
    }
    expect(seen).toBe(Object.keys(expected).length)
  })
})

const byKey =
  ({ requiredSigners }: UnsignedTransaction) =>
  (a: string, b: string) =>
    requiredSigners.indexOf(a) - requiredSigners.indexOf(b)
