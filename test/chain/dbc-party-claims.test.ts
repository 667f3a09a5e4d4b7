/** Claims of every kind from launch curves by the real programs, for partner and creator: what the state said, to the unit. */
import * as spl from '@solana/spl-token'
import { ComputeBudgetProgram, type Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { Beneficiary } from '../../src/api/fee-claims.ts'
import {
  buildCreationFeeWithdrawal,
  buildCreatorTransfer,
  buildLeftoverWithdrawal,
  buildQuoteWithdrawal,
  buildTradingFeeClaim,
  CREATOR_TRANSFER_UNITS,
  type DbcPool,
  maxRecipients,
  OPENED_SHARE_UNITS,
  readLeftover,
  TRADING_FEE_CLAIM_UNITS,
  vestingEscrowAddress,
  WITHDRAWAL_UNITS,
} from '../../src/chain/programs/dbc/index.ts'
import { type Escrow, LOCK_UNITS, onLock, readLocks } from '../../src/chain/programs/jupiter-lock/index.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { lockAmounts } from '../../src/solana/lock-schedule.ts'
import { DBC_POOL_AUTHORITY } from '../../src/solana/programs.ts'
import {
  addressOf,
  addSurplus,
  CREATOR,
  type DbcChain,
  goldenPool,
  KEEPER,
  lacksDbc,
  openDbcChain,
  PARTNER,
} from '../support/dbc.ts'
import { earningCurve, launchInQuote, migrate, quotedPool } from '../support/earning-curves.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { inSoak } from '../support/runs.ts'

const FEE = 5_000n
const recentBlockhash = GOLDEN_BLOCKHASH
const budget = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
]
const PARTIES = [
  ['partner', PARTNER],
  ['creator', CREATOR],
] as const
const sharesOf = (amount: bigint, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    recipient: addressOf(goldenKey(100 + i)),
    amount: amount / BigInt(count) + (BigInt(i) < amount % BigInt(count) ? 1n : 0n),
  }))
const owed = (pool: DbcPool, beneficiary: Beneficiary) =>
  beneficiary === 'creator' ? pool.creatorQuoteFee : pool.partnerQuoteFee
const feesOf = (pool: DbcPool, beneficiary: Beneficiary, payer: Keypair, count = 0) => {
  const amount = owed(pool, beneficiary)
  const claimer = addressOf(beneficiary === 'creator' ? CREATOR : PARTNER)
  return {
    pool,
    beneficiary,
    claimer,
    payer: addressOf(payer),
    amount,
    splits: sharesOf(amount, count),
    recentBlockhash,
  }
}
const tokenAddress = (mint: string, owner: Keypair) =>
  spl.getAssociatedTokenAddressSync(new PublicKey(mint), owner.publicKey).toBase58()

/** Lands it, within the units that are set where it cannot be simulated. */
function landed(opened: DbcChain, built: UnsignedTransaction, units: number): void {
  expect(opened.land(built), opened.logs.join('\n')).toBeNull()
  expect(opened.units).toBeLessThan(units)
}

describe.skipIf(lacksDbc)('a party of a curve (needs DBC, DAMM v2, Metaplex and Lock in the cache)', () => {
  async function traded(changes: Parameters<typeof earningCurve>[0] = {}) {
    const opened = await openDbcChain()
    let pool = await opened.launch({ curve: await earningCurve(changes) })
    pool = await opened.trade(pool, 'buy', 50n * SOL)
    return { opened, pool: await opened.trade(pool, 'sell', 10n ** 13n + 7n) }
  }

  // The claims of the partner are in dbc-claims.test.ts too.
  it.each(inSoak ? PARTIES : PARTIES.slice(1))(
    'claims its trading fees to the lamport, and leaves those of the other party: %s',
    { tags: 'sampled' },
    async (beneficiary, key) => {
      const { opened, pool } = await traded()
      const amount = owed(pool, beneficiary)
      expect(amount).toBeGreaterThan(0n)
      const before = opened.lamports(addressOf(key))
      landed(opened, await buildTradingFeeClaim(feesOf(pool, beneficiary, KEEPER)), TRADING_FEE_CLAIM_UNITS)
      expect(opened.lamports(addressOf(key)) - before).toBe(amount)
      const after = await opened.read(pool.address)
      const other = beneficiary === 'creator' ? 'partner' : 'creator'
      expect([owed(after, beneficiary), owed(after, other)]).toEqual([0n, owed(pool, other)])
      // A claim of nothing would land, and pay nothing: the assertion of the whole amount fails it.
      expect(opened.land(await buildTradingFeeClaim(feesOf(pool, beneficiary, KEEPER)))).toMatchObject({
        InstructionError: [5, { Custom: 1 }],
      })
    },
  )

  it('that is the creator splits its fees between as many recipients as fit, whoever pays', async ({ annotate }) => {
    const { opened, ...first } = await traded()
    let { pool } = first
    for (const payer of [CREATOR, KEEPER]) {
      const most = maxRecipients(payer === CREATOR)
      const claim = feesOf(pool, 'creator', payer, most)
      const before = claim.splits.map(({ recipient }) => opened.lamports(recipient))
      landed(opened, await buildTradingFeeClaim({ ...claim, before: budget }), TRADING_FEE_CLAIM_UNITS)
      await annotate(`${most} recipients: ${opened.units}`, 'units')
      expect(claim.splits.map(({ recipient }, i) => opened.lamports(recipient) - before[i]!)).toEqual(
        claim.splits.map(({ amount }) => amount),
      )
      pool = await opened.trade(await opened.read(pool.address), 'buy', 10n * SOL)
    }
  })

  it('has fees in the token too if the pool takes both', async () => {
    const { opened, pool } = await traded({ bothTokens: true })
    for (const [beneficiary, key] of PARTIES) {
      const [lamports, tokens] = [opened.lamports(addressOf(key)), opened.held(pool, key)]
      landed(opened, await buildTradingFeeClaim(feesOf(pool, beneficiary, KEEPER)), TRADING_FEE_CLAIM_UNITS)
      expect(opened.lamports(addressOf(key)) - lamports).toBe(owed(pool, beneficiary))
      const base = beneficiary === 'creator' ? pool.creatorBaseFee : pool.partnerBaseFee
      expect(base).toBeGreaterThan(0n)
      expect(opened.held(pool, key) - tokens).toBe(base)
    }
    // Fees in the token alone, without any in SOL.
    const bought = await opened.trade(await opened.read(pool.address), 'buy', SOL)
    expect([bought.creatorQuoteFee, bought.creatorBaseFee > 0n]).toEqual([0n, true])
    const tokens = opened.held(pool, CREATOR)
    landed(opened, await buildTradingFeeClaim(feesOf(bought, 'creator', CREATOR)), TRADING_FEE_CLAIM_UNITS)
    expect(opened.held(pool, CREATOR) - tokens).toBe(bought.creatorBaseFee)
  })

  it('withdraws surplus and migration fee of a full curve once, before the migration and after it', {
    tags: 'sampled',
  }, async ({ annotate }) => {
    for (const isMigrated of inSoak ? [false, true] : [true]) {
      const { opened, pool: open } = await traded()
      const kinds = ['surplus', 'migration_fee'] as const
      const withdrawal = (kind: (typeof kinds)[number], beneficiary: Beneficiary, pool: DbcPool) => {
        const claimer = addressOf(beneficiary === 'creator' ? CREATOR : PARTNER)
        return buildQuoteWithdrawal({ kind, beneficiary, claimer, pool, payer: addressOf(KEEPER), recentBlockhash })
      }
      expect([open.creatorSurplus, open.creatorMigrationFee, open.migrationFee]).toEqual(
        Array(3).fill({ claimable: 0n, withdrawn: false }),
      )
      for (const kind of kinds) {
        expect(opened.land(await withdrawal(kind, 'creator', open))).toMatchObject({
          InstructionError: [1, { Custom: 6022 }],
        })
      }
      let pool = await opened.fill(open)
      addSurplus(opened, pool, 1_000_003n)
      pool = await opened.read(pool.address)
      if (isMigrated) pool = await migrate(opened, pool)
      const said = {
        surplus: { partner: pool.surplus, creator: pool.creatorSurplus },
        migration_fee: { partner: pool.migrationFee, creator: pool.creatorMigrationFee },
      }
      const total = (pool.threshold * 5n) / 100n
      expect(pool.migrationFee.claimable + pool.creatorMigrationFee.claimable).toBe(total)
      for (const kind of kinds) {
        for (const [beneficiary, key] of PARTIES) {
          const before = opened.lamports(addressOf(key))
          landed(opened, await withdrawal(kind, beneficiary, pool), WITHDRAWAL_UNITS[kind])
          await annotate(`${kind} of the ${beneficiary}: ${opened.units}`, 'units')
          expect(said[kind][beneficiary].claimable).toBeGreaterThan(0n)
          expect(opened.lamports(addressOf(key)) - before).toBe(said[kind][beneficiary].claimable)
          const again = opened.land(await withdrawal(kind, beneficiary, pool))
          expect(again).toMatchObject({ InstructionError: [1, { Custom: kind === 'surplus' ? 6025 : 6040 }] })
        }
      }
      pool = await opened.read(pool.address)
      expect([pool.surplus, pool.creatorSurplus, pool.migrationFee, pool.creatorMigrationFee]).toEqual(
        Array(4).fill({ claimable: 0n, withdrawn: true }),
      )
    }
  })

  it('that is the partner gets nine tenths of the pool creation fee, once', async ({ annotate }) => {
    const { opened, pool } = await traded()
    expect(pool.creationFee).toEqual({ claimable: 9_000_001n, withdrawn: false })
    const claim = () => buildCreationFeeWithdrawal({ pool, payer: addressOf(PARTNER), recentBlockhash })
    const before = opened.lamports(addressOf(PARTNER))
    landed(opened, await claim(), WITHDRAWAL_UNITS.pool_creation_fee)
    await annotate(`pool creation fee: ${opened.units}`, 'units')
    expect(opened.lamports(addressOf(PARTNER)) - before).toBe(9_000_001n - FEE)
    expect((await opened.read(pool.address)).creationFee).toEqual({ claimable: 0n, withdrawn: true })
    expect(opened.land(await claim())).toMatchObject({ InstructionError: [0, { Custom: 6052 }] })
  })

  it("that receives the leftover is paid by anyone's transaction, after the migration, without the fees beside it", async ({
    annotate,
  }) => {
    const { opened, pool: open } = await traded({ bothTokens: true })
    const claim = () => buildLeftoverWithdrawal({ pool: open, payer: addressOf(KEEPER), recentBlockhash })
    expect(opened.land(await claim())).toMatchObject({ InstructionError: [1, { Custom: 6022 }] })
    const pool = await migrate(opened, await opened.fill(open))
    const left = await readLeftover(opened.connection, pool)
    expect(left).toBeGreaterThan(0n)
    const before = opened.held(pool, PARTNER)
    landed(opened, await claim(), WITHDRAWAL_UNITS.leftover)
    await annotate(`leftover: ${opened.units}`, 'units')
    expect(opened.held(pool, PARTNER) - before).toBe(left)
    const after = await opened.read(pool.address)
    expect([after.leftover.withdrawn, await readLeftover(opened.connection, after)]).toEqual([true, 0n])
    expect(opened.land(await claim())).toMatchObject({ InstructionError: [1, { Custom: 6026 }] })
    for (const [beneficiary, key] of PARTIES) {
      const tokens = opened.held(pool, key)
      landed(opened, await buildTradingFeeClaim(feesOf(after, beneficiary, KEEPER)), TRADING_FEE_CLAIM_UNITS)
      const base = beneficiary === 'creator' ? after.creatorBaseFee : after.partnerBaseFee
      expect(opened.held(pool, key) - tokens).toBe(base)
    }
  })

  it('gets its vested tokens period by period, as read, and nothing early', async ({ annotate }) => {
    const { opened, pool: open } = await traded()
    const pool = await migrate(opened, await opened.fill(open))
    const address = await vestingEscrowAddress(pool.address)
    const read = async () => {
      opened.tick()
      const { at, escrows } = await readLocks(opened.connection, [address])
      return { now: BigInt(at.unixSeconds), escrow: escrows[0] as Escrow }
    }
    const claim = async (escrow: Escrow, amount: bigint) =>
      onLock({ payer: addressOf(KEEPER), recentBlockhash }, escrow, ({ claim }) =>
        claim(addressOf(KEEPER), escrow.recipient, amount),
      )
    const { escrow, now } = await read()
    expect(escrow).toMatchObject({
      // Nobody else could close it and take its rent.
      creator: DBC_POOL_AUTHORITY,
      recipient: addressOf(CREATOR),
      mint: pool.baseMint,
      frequency: 86_400n,
      periods: 10n,
    })
    const { total, claimable, next } = lockAmounts(escrow, now)
    expect([total, claimable]).toEqual([10n ** 14n, 0n])
    expect(next).toEqual({ at: escrow.cliffTime, amount: escrow.cliffAmount })
    landed(opened, await claim(escrow, 2n ** 64n - 1n), LOCK_UNITS.claim)
    expect(opened.held(pool, CREATOR)).toBe(0n)
    let paid = 0n
    for (const seconds of [3_600, 86_399, 86_400, 3 * 86_400, 20 * 86_400]) {
      opened.chain.advance(seconds)
      const seen = await read()
      const due = lockAmounts(seen.escrow, seen.now)
      landed(opened, await claim(seen.escrow, due.claimable), LOCK_UNITS.claim)
      await annotate(`vesting: ${opened.units}`, 'units')
      paid += due.claimable
      expect(opened.held(pool, CREATOR)).toBe(paid)
      const rest = await read()
      expect(lockAmounts(rest.escrow, rest.now).claimable).toBe(0n)
    }
    expect(paid).toBe(total)
    const end = await read()
    expect(lockAmounts(end.escrow, end.now).next).toBeNull()
  })

  it('can pass the role of the creator on with its unclaimed fees, but not while the curve waits for its migration', async ({
    annotate,
  }) => {
    const { opened, pool } = await traded({ locked: false })
    const [to, payer] = [KEEPER, addressOf(KEEPER)]
    const transfer = (from: DbcPool) =>
      buildCreatorTransfer({ pool: from, newCreator: addressOf(to), payer, recentBlockhash })
    landed(opened, await transfer(pool), CREATOR_TRANSFER_UNITS)
    await annotate(`transfer: ${opened.units}`, 'units')
    const handed = await opened.read(pool.address)
    expect([handed.creator, handed.creatorQuoteFee]).toEqual([addressOf(to), pool.creatorQuoteFee])
    expect(opened.land(await buildTradingFeeClaim(feesOf(pool, 'creator', CREATOR)))).not.toBeNull()
    const before = opened.lamports(addressOf(to))
    const claim = { ...feesOf(handed, 'creator', to), claimer: addressOf(to) }
    landed(opened, await buildTradingFeeClaim(claim), TRADING_FEE_CLAIM_UNITS)
    expect(opened.lamports(addressOf(to)) - before).toBe(pool.creatorQuoteFee - FEE - TOKEN_ACCOUNT_RENT)
    const back = { payer, recentBlockhash, newCreator: addressOf(CREATOR) }
    const full = await opened.fill(handed)
    expect(opened.land(await buildCreatorTransfer({ ...back, pool: full }))).toMatchObject({
      InstructionError: [0, { Custom: 6022 }],
    })
    const migrated = await migrate(opened, full)
    landed(opened, await buildCreatorTransfer({ ...back, pool: migrated }), CREATOR_TRANSFER_UNITS)
    expect((await opened.read(pool.address)).creator).toBe(addressOf(CREATOR))
  })

  it('in another quote than SOL is paid in it, with splits too; the payer opens missing accounts', {
    tags: 'sampled',
  }, async ({ annotate }) => {
    const opened = await openDbcChain()
    let pool = await launchInQuote(opened, await earningCurve({ bothTokens: false }))
    for (const [beneficiary, key] of PARTIES) {
      for (const count of inSoak ? [0, 2, 3] : [0, 2]) {
        pool = await opened.trade(pool, 'buy', SOL + 7n)
        const own = tokenAddress(pool.quoteMint, key)
        const claim = { ...feesOf(pool, beneficiary, KEEPER, count), held: opened.tokens(own) }
        const recipients = Array.from({ length: count }, (_, i) => tokenAddress(pool.quoteMint, goldenKey(100 + i)))
        const before = recipients.map(opened.tokens)
        const splits = claim.splits.map((share, i) => ({
          ...share,
          account: opened.chain.account(recipients[i]!) === null ? ('missing' as const) : ('open' as const),
        }))
        const lamports = opened.lamports(addressOf(key))
        const opening = splits.filter(({ account }) => account === 'missing').length
        landed(
          opened,
          await buildTradingFeeClaim({ ...claim, splits, before: budget }),
          TRADING_FEE_CLAIM_UNITS + opening * OPENED_SHARE_UNITS,
        )
        await annotate(`${count} shares, ${opening} opened: ${opened.units}`, 'units')
        expect(opened.lamports(addressOf(key))).toBe(lamports)
        expect(recipients.map((each, i) => opened.tokens(each) - before[i]!)).toEqual(
          splits.map(({ amount }) => amount),
        )
        expect(opened.tokens(own)).toBe(claim.held + (count === 0 ? claim.amount : 0n))
        // Without the fees, the shares would be paid from what the claimer had before.
        const all = splits.map((share) => ({ ...share, account: 'open' as const }))
        const again = opened.land(await buildTradingFeeClaim({ ...claim, held: opened.tokens(own), splits: all }))
        expect(again).toMatchObject({ InstructionError: [3, { Custom: 1 }] })
        pool = await opened.read(pool.address)
      }
    }
    pool = await opened.trade(pool, 'buy', 900n * SOL)
    for (const [beneficiary, key] of PARTIES) {
      const before = opened.tokens(tokenAddress(pool.quoteMint, key))
      const party = { kind: 'migration_fee', beneficiary, claimer: addressOf(key), pool } as const
      landed(
        opened,
        await buildQuoteWithdrawal({ ...party, payer: addressOf(KEEPER), recentBlockhash }),
        WITHDRAWAL_UNITS.migration_fee,
      )
      const { claimable } = beneficiary === 'creator' ? pool.creatorMigrationFee : pool.migrationFee
      expect(opened.tokens(tokenAddress(pool.quoteMint, key)) - before).toBe(claimable)
    }
  })
})

describe('a claim in another quote', () => {
  it('says how many recipients fit, by size and by the instructions for their accounts', async ({ annotate }) => {
    const pool = await quotedPool()
    const splits = (account: 'open' | 'missing', count: number) =>
      sharesOf(10n ** 9n, count).map((share) => ({ ...share, account }))
    const fits = async (account: 'open' | 'missing', terms: object) => {
      const claim = { ...feesOf(pool, 'partner', KEEPER), amount: 10n ** 9n, ...terms }
      const built = buildTradingFeeClaim({ ...claim, splits: splits(account, 10) })
      const error = await built.then(
        () => null,
        (thrown) => thrown,
      )
      if (error === null) return 10
      expect(error).toMatchObject({ code: 'bad_request', param: 'splits' })
      const most = Number(/at most (\d+) recipients/.exec(error.message)?.[1])
      await buildTradingFeeClaim({ ...claim, splits: splits(account, most) })
      return most
    }
    const [v0, v1] = [{ before: budget }, { messageConfig: GOLDEN_CONFIG }]
    const most = [await fits('open', v0), await fits('missing', v0), await fits('open', v1), await fits('missing', v1)]
    await annotate(`open and missing accounts, version 0 and 1: ${most.join(', ')}`, 'size')
    expect(most).toEqual([8, 4, 10, 6])
  })
})

describe('a claim of a party', () => {
  const common = { payer: addressOf(CREATOR), recentBlockhash }
  const arranged = async (earn: (opened: DbcChain) => Promise<unknown>) => {
    const opened = await openDbcChain()
    await earn(opened)
    return opened.test
  }
  const bought = async (opened: DbcChain) =>
    opened.trade(await opened.launch({ curve: await earningCurve() }), 'buy', 50n * SOL)
  const full = async (opened: DbcChain) => {
    const pool = await opened.fill(await bought(opened))
    addSurplus(opened, pool, 1_000_003n)
    return opened.read(pool.address)
  }
  const migrated = async (opened: DbcChain) => migrate(opened, await full(opened))

  const fees = async (payer: Keypair, count: number) => {
    const amount = count === 38 ? 100_000_005n : 10_000_005n
    return { ...feesOf(await goldenPool(), 'creator', payer), amount, splits: sharesOf(amount, count) }
  }
  const inQuote = async (account: 'open' | 'missing') => {
    const pool = await quotedPool()
    const splits = sharesOf(10_000_005n, 3).map((share) => ({ ...share, account }))
    return { ...feesOf(pool, 'partner', KEEPER), amount: 10_000_005n, splits }
  }
  const withdrawn = async (kind: 'surplus' | 'migration_fee', beneficiary: Beneficiary) => ({
    kind,
    beneficiary,
    claimer: addressOf(beneficiary === 'creator' ? CREATOR : PARTNER),
    payer: addressOf(KEEPER),
    pool: await goldenPool(),
    recentBlockhash,
  })

  const GOLDENS: [string, (terms: object) => Promise<UnsignedTransaction>, (opened: DbcChain) => Promise<unknown>][] = [
    ['creator-plain', async (terms) => buildTradingFeeClaim({ ...(await fees(CREATOR, 0)), ...terms }), bought],
    ['creator-split', async (terms) => buildTradingFeeClaim({ ...(await fees(CREATOR, 10)), ...terms }), bought],
    [
      'creator-paid-by-another',
      async (terms) => buildTradingFeeClaim({ ...(await fees(KEEPER, 8)), ...terms }),
      bought,
    ],
    [
      'creator-surplus',
      async (terms) => buildQuoteWithdrawal({ ...(await withdrawn('surplus', 'creator')), ...terms }),
      full,
    ],
    [
      'creator-migration-fee',
      async (terms) => buildQuoteWithdrawal({ ...(await withdrawn('migration_fee', 'creator')), ...terms }),
      full,
    ],
    [
      'migration-fee',
      async (terms) => buildQuoteWithdrawal({ ...(await withdrawn('migration_fee', 'partner')), ...terms }),
      full,
    ],
    ['leftover', async (terms) => buildLeftoverWithdrawal({ ...common, pool: await goldenPool(), ...terms }), migrated],
    [
      'creation-fee',
      async (terms) => buildCreationFeeWithdrawal({ ...common, pool: await goldenPool(), ...terms }),
      bought,
    ],
    [
      'vesting',
      async (terms) => {
        const { address, baseMint: mint } = await goldenPool()
        const escrow = { address: await vestingEscrowAddress(address), mint, tokenProgram: 'spl' as const }
        return onLock({ ...common, ...terms }, escrow, ({ claim }) =>
          claim(common.payer, addressOf(CREATOR), 10n ** 12n),
        )
      },
      async (opened) => {
        await migrated(opened)
        opened.chain.advance(86_400)
        opened.tick()
      },
    ],
    [
      'creator-transfer',
      async (terms) =>
        buildCreatorTransfer({ ...common, pool: await goldenPool(), newCreator: addressOf(KEEPER), ...terms }),
      bought,
    ],
    [
      'quote-split',
      async (terms) => buildTradingFeeClaim({ ...(await inQuote('missing')), ...terms }),
      async (opened) => opened.trade(await launchInQuote(opened, await earningCurve()), 'buy', 50n * SOL),
    ],
  ]
  for (const [name, build, earn] of GOLDENS) {
    for (const version of ['', 'v1-'] as const) {
      it.skipIf(RECORDING && lacksDbc)(`is built as recorded: ${version}${name}`, async ({ annotate }) => {
        const { transaction } = await build(version === '' ? { before: budget } : { messageConfig: GOLDEN_CONFIG })
        const bytes = await expectGolden(`dbc-claim-${version}${name}`, transaction, () => arranged(earn))
        await annotate(`${version}${name}: ${bytes} bytes`, 'size')
      })
    }
  }
})
