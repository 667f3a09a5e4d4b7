/** Claims by both parties of a curve, in any order, between any trades: each gets exactly what the state said, and Meteora's part is left. */
import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Beneficiary } from '../../src/api/fee-claims.ts'
import {
  buildCreationFeeWithdrawal,
  buildLeftoverWithdrawal,
  buildQuoteWithdrawal,
  buildTradingFeeClaim,
  type DbcPool,
  readLeftover,
  vestingEscrowAddress,
} from '../../src/chain/programs/dbc/index.ts'
import { onLock, readLocks } from '../../src/chain/programs/jupiter-lock/index.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { splitAmount } from '../../src/operations/fee-claims/plan-claim.ts'
import { lockAmounts } from '../../src/solana/lock-schedule.ts'
import { addressOf, CREATOR, type DbcChain, KEEPER, lacksDbc, openDbcChain, PARTNER } from '../support/dbc.ts'
import { earningCurve, migrate } from '../support/earning-curves.ts'
import { GOLDEN_BLOCKHASH, goldenKey } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

const RECIPIENTS = [100, 101, 102].map((seed) => addressOf(goldenKey(seed)))
const KEYS = { partner: PARTNER, creator: CREATOR } as const
const beneficiary = fc.constantFrom<Beneficiary>('partner', 'creator')
const common = { payer: addressOf(KEEPER), recentBlockhash: GOLDEN_BLOCKHASH }

const world = fc.record({
  creatorFee: fc.integer({ min: 0, max: 100 }),
  migrationFee: fc.integer({ min: 1, max: 40 }),
  creatorMigrationFee: fc.integer({ min: 0, max: 100 }),
  creationFee: fc.constantFrom(0, 0.001000007, 0.5),
  bothTokens: fc.boolean(),
  locked: fc.boolean(),
})
const bps = fc.constantFrom([], [5_000, 5_000], [1, 3_333, 6_666])
const step = fc.oneof(
  fc.record({ act: fc.constant('buy' as const), amount: fc.bigInt({ min: 10n ** 6n, max: 5n * SOL }) }),
  fc.record({ act: fc.constant('sell' as const), part: fc.integer({ min: 1, max: 99 }) }),
  fc.record({ act: fc.constant('claim' as const), beneficiary, bps }),
)
const ONCE = [
  ['surplus', 'partner'],
  ['surplus', 'creator'],
  ['migration_fee', 'partner'],
  ['migration_fee', 'creator'],
] as const

/** Runs what is built, and compares what its claimer had before and after with what was said. */
function books(opened: DbcChain) {
  const held = (pool: DbcPool, owner: string) => {
    const token = getAssociatedTokenAddressSync(new PublicKey(pool.baseMint), new PublicKey(owner)).toBase58()
    return { lamports: opened.lamports(owner), base: opened.tokens(token) }
  }
  return (pool: DbcPool, built: UnsignedTransaction, said: Map<string, { lamports: bigint; base: bigint }>) => {
    const before = [...said.keys()].map((owner) => held(pool, owner))
    expect(opened.land(built), opened.logs.join('\n')).toBeNull()
    const changes = [...said.keys()].map((owner, i) => {
      const { lamports, base } = held(pool, owner)
      return { lamports: lamports - before[i]!.lamports, base: base - before[i]!.base }
    })
    expect(changes).toEqual([...said.values()])
    return opened.read(pool.address)
  }
}

describe.skipIf(lacksDbc)('the parties of a curve (needs DBC, DAMM v2, Metaplex and Lock in the cache)', () => {
  it('get the amounts of the state in any order of trades and claims, and leave Meteora its part', {
    tags: 'sampled',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        world,
        fc.array(step, { maxLength: 8 }),
        fc.shuffledSubarray([...ONCE], { minLength: 4 }),
        fc.integer({ min: 0, max: 4 }),
        async (changes, steps, once, early) => {
          const opened = await openDbcChain()
          for (const recipient of RECIPIENTS) opened.chain.airdrop(recipient, SOL)
          const land = books(opened)
          let pool = await opened.launch({ curve: await earningCurve(changes) })
          const claim = async (who: Beneficiary, shares: readonly number[]) => {
            const [amount, base] =
              who === 'creator'
                ? [pool.creatorQuoteFee, pool.creatorBaseFee]
                : [pool.partnerQuoteFee, pool.partnerBaseFee]
            if (amount === 0n && base === 0n) return
            const parts = splitAmount(amount, shares)
            const splits = parts.map((part, i) => ({ recipient: RECIPIENTS[i]!, amount: part }))
            if (parts.includes(0n)) return
            const claimer = addressOf(KEYS[who])
            const rest = amount - parts.reduce((sum, part) => sum + part, 0n)
            expect(shares.length === 0 || rest === 0n).toBe(true)
            const said = new Map([[claimer, { lamports: rest, base }]])
            for (const { recipient, amount } of splits) said.set(recipient, { lamports: amount, base: 0n })
            const built = await buildTradingFeeClaim({ ...common, pool, beneficiary: who, claimer, amount, splits })
            pool = await land(pool, built, said)
          }
          for (const each of steps) {
            if (each.act === 'buy') pool = await opened.trade(pool, 'buy', each.amount)
            else if (each.act === 'claim') await claim(each.beneficiary, each.bps)
            else {
              const amount = (opened.held(pool, KEEPER) * BigInt(each.part)) / 100n
              if (amount > 10n ** 9n) pool = await opened.trade(pool, 'sell', amount, KEEPER)
              else pool = await opened.trade(pool, 'buy', SOL, KEEPER)
            }
          }
          pool = await opened.fill(pool)
          const withdraw = async ([kind, who]: (typeof ONCE)[number]) => {
            const fee = who === 'creator' ? pool.creatorMigrationFee : pool.migrationFee
            const surplus = who === 'creator' ? pool.creatorSurplus : pool.surplus
            const { claimable, withdrawn } = kind === 'surplus' ? surplus : fee
            expect(withdrawn).toBe(false)
            const claimer = addressOf(KEYS[who])
            const built = await buildQuoteWithdrawal({ ...common, kind, beneficiary: who, claimer, pool })
            pool = await land(pool, built, new Map([[claimer, { lamports: claimable, base: 0n }]]))
          }
          for (const each of once.slice(0, early)) await withdraw(each)
          pool = await migrate(opened, pool)
          for (const each of once.slice(early)) await withdraw(each)
          const partner = addressOf(PARTNER)
          if (pool.creationFee.claimable > 0n) {
            const said = new Map([[partner, { lamports: pool.creationFee.claimable, base: 0n }]])
            pool = await land(pool, await buildCreationFeeWithdrawal({ ...common, pool }), said)
          }
          const left = await readLeftover(opened.connection, pool)
          const leftover = new Map([[partner, { lamports: 0n, base: left }]])
          pool = await land(pool, await buildLeftoverWithdrawal({ ...common, pool }), leftover)
          await claim('creator', [])
          await claim('partner', [2_500, 7_500])
          await claim('partner', [])
          if (pool.hasVesting) {
            opened.chain.advance(30 * 86_400)
            opened.tick()
            const { at, escrows } = await readLocks(opened.connection, [await vestingEscrowAddress(pool.address)])
            const { claimable, total } = lockAmounts(escrows[0]!, BigInt(at.unixSeconds))
            expect(claimable).toBe(total)
            const said = new Map([[addressOf(CREATOR), { lamports: 0n, base: total }]])
            const lock = escrows[0]!
            const built = await onLock(common, lock, ({ claim }) => claim(common.payer, lock.recipient, claimable))
            pool = await land(pool, built, said)
          }
          const { poolState: state } = (pool.raw as { pool: { poolState: Record<string, string> } }).pool
          const surplus = pool.quoteReserve - pool.threshold
          const protocol = surplus - (surplus * 80n) / 100n + BigInt(state.protocolMigrationQuoteFeeAmount!)
          expect([opened.tokens(pool.quoteVault), opened.tokens(pool.baseVault)]).toEqual([
            pool.protocolQuoteFee + protocol,
            pool.protocolBaseFee + pool.protocolMigrationBaseFee,
          ])
        },
      ),
      { numRuns: runs(2, 20) },
    )
  })
})
