/** Trades on a launch curve: a quote is what the real program then gives, to the unit. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildCurve,
  buildDbcSwap,
  curveProgressOf,
  type DbcPool,
  migrationMarketCap,
  quoteDbcSwap,
  readDbcPool,
} from '../../src/chain/programs/dbc/index.ts'
import { addressOf, goldenPool, KEEPER, lacksDbc, openDbcChain, presetWith, TRADER } from '../support/dbc.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { testNode } from '../support/node.ts'
import { inSoak, runs } from '../support/runs.ts'

const FALLING = { starting_bps: 9_000, ending_bps: 100, periods: 60, duration_seconds: 600 }
const order = (pool: DbcPool, side: 'buy' | 'sell', amount: bigint, minimumOut = 0n) => ({
  payer: addressOf(TRADER),
  pool,
  side,
  amount,
  minimumOut,
  recentBlockhash: GOLDEN_BLOCKHASH,
})

/** After many sales a thousandth of what is held may be worth less than a lamport. */
function nullIfTooLittle(error: unknown): null {
  if (!String(error).includes('nothing would come out')) throw error
  return null
}

describe.skipIf(lacksDbc)('trading on a curve (needs DBC, DAMM v2, Metaplex and Lock in the cache)', () => {
  const evenly = { 'a fee that falls evenly': { fee: FALLING, creator_fee_percentage: 30 } }
  const others = {
    'a steady fee': {},
    'a fee that falls by shares': { fee: { ...FALLING, schedule: 'exponential' }, decimals: 9 },
  }
  for (const [what, changes] of Object.entries({ ...evenly, ...(inSoak && others) })) {
    it(`gives exactly what was quoted, with ${what}`, { tags: 'sampled' }, async () => {
      const opened = await openDbcChain()
      const { chain, connection, lamports, held } = opened
      let pool = await opened.launch({ curve: await buildCurve(presetWith(changes)) })
      pool = await opened.trade(pool, 'buy', SOL)
      const trades = fc.record({
        side: fc.constantFrom('buy' as const, 'sell' as const),
        part: fc.bigInt({ min: 1n, max: 1_000n }),
        periods: fc.integer({ min: 0, max: 9 }),
      })
      const steps = fc.sample(trades, runs(12, 25))
      let made = 0
      for (const { side, part, periods } of steps) {
        // A trade lands a second after its quote; in the middle of a period both see the same fee.
        const into = (chain.unixTimestamp() - pool.activatedAt!) % 10
        opened.test.wall.ms += (periods * 10 + ((14 - into) % 10)) * 1_000
        opened.tick()
        const holds = held(pool, TRADER)
        const amount = side === 'buy' ? (3n * SOL * part) / 1_000n : (holds * part) / 1_000n
        if (amount === 0n) continue
        const quote = await quoteDbcSwap(connection, pool, { side, amount }).catch(nullIfTooLittle)
        if (quote === null) {
          expect(side).toBe('sell')
          continue
        }
        made++
        const before = lamports(addressOf(TRADER))
        const { baseReserve, quoteReserve } = pool
        const fees = feesOf(pool)
        pool = await opened.trade(pool, side, amount)
        const received = held(pool, TRADER) - holds
        const paid = before - lamports(addressOf(TRADER)) - 5_000n
        expect(quote.amountIn).toBe(amount)
        expect(side === 'buy' ? received : -paid).toBe(quote.estimatedOut)
        expect(side === 'buy' ? paid : -received).toBe(quote.amountIn)
        expect(feesOf(pool) - fees).toBe(quote.fee)
        const inReserve = side === 'buy' ? quote.amountIn - quote.fee : -(quote.estimatedOut + quote.fee)
        expect(pool.quoteReserve - quoteReserve).toBe(inReserve)
        expect(baseReserve - pool.baseReserve).toBe(received)
      }
      expect(made).toBeGreaterThanOrEqual(runs(1, 3))
    })
  }

  it('lets the last buyer fill the curve and keep the remainder, exactly as quoted', async () => {
    const opened = await openDbcChain()
    let pool = await opened.launch()
    pool = await opened.trade(pool, 'buy', 20n * SOL)
    expect(curveProgressOf(pool)).toBeGreaterThan(0.2)
    const quote = await quoteDbcSwap(opened.connection, pool, { side: 'buy', amount: 500n * SOL })
    expect(quote.amountIn).toBeLessThan(70n * SOL)
    const [before, holds] = [opened.lamports(addressOf(TRADER)), opened.held(pool, TRADER)]
    const { blockhash } = opened.chain.latestBlockhash()
    const whole = { ...order(pool, 'buy', 500n * SOL), recentBlockhash: blockhash, partialFill: false }
    expect(opened.land(await buildDbcSwap(whole))).toEqual({ InstructionError: [4, { Custom: 6033 }] })
    pool = await opened.trade(pool, 'buy', 500n * SOL)
    expect(before - opened.lamports(addressOf(TRADER))).toBe(quote.amountIn + 5_000n)
    expect(opened.held(pool, TRADER) - holds).toBe(quote.estimatedOut)
    expect(pool.quoteReserve).toBeGreaterThanOrEqual(pool.threshold)
    expect(curveProgressOf(pool)).toBe(1)
    expect(pool.finishedAt).toEqual(expect.any(Number))
    const full = quoteDbcSwap(opened.connection, pool, { side: 'sell', amount: 1n })
    await expect(full).rejects.toMatchObject({ code: 'bad_request', param: 'address' })
  })

  it('fails if less would come out than requested', async () => {
    const opened = await openDbcChain()
    const pool = await opened.trade(await opened.launch(), 'buy', SOL)
    for (const side of ['buy', 'sell'] as const) {
      const amount = side === 'buy' ? SOL : 10n ** 12n
      const { estimatedOut } = await quoteDbcSwap(opened.connection, pool, { side, amount })
      const tooMuch = await buildDbcSwap(order(pool, side, amount, estimatedOut + 1n))
      expect(opened.land(tooMuch)).toMatchObject({ InstructionError: [expect.any(Number), { Custom: 6002 }] })
      expect(opened.land(await buildDbcSwap(order(pool, side, amount, estimatedOut)))).toBeNull()
      await opened.trade(pool, side === 'buy' ? 'sell' : 'buy', side === 'buy' ? estimatedOut : SOL)
    }
  })

  it('names the amount as the fault if the curve cannot do it', async () => {
    const opened = await openDbcChain()
    const pool = await opened.trade(await opened.launch(), 'buy', SOL)
    const refused = { code: 'bad_request', param: 'amount' }
    for (const [side, amount] of [
      ['sell', opened.held(pool, TRADER) * 2n],
      ['sell', 2n ** 64n - 1n],
      ['sell', 1n],
      ['buy', 0n],
      ['buy', 2n ** 64n],
    ] as const) {
      await expect(quoteDbcSwap(opened.connection, pool, { side, amount }), `${side} ${amount}`).rejects.toMatchObject(
        refused,
      )
    }
    const absent = { address: addressOf(goldenKey(90)), config: pool.config }
    const quote = quoteDbcSwap(opened.connection, absent, { side: 'buy', amount: 1n })
    await expect(quote).rejects.toMatchObject({ code: 'not_found' })
  })

  it('knows the value of the supply at the migration', async () => {
    const pool = await (await openDbcChain()).launch()
    expect(migrationMarketCap(pool)).toBeCloseTo(400, 6)
    expect(migrationMarketCap({ ...pool, quoteMint: addressOf(KEEPER) })).toBeNull()
  })
})

describe('a curve that cannot be read', () => {
  it('is reported as a fault of the node', async () => {
    const broken = testNode('http://broken.test', {
      fetch: (() => Promise.reject(new Error('connect ECONNREFUSED'))) as typeof fetch,
      disableRetryOnRateLimit: true,
    })
    const pool = await goldenPool()
    const fault = { code: 'internal_error' }
    await expect(readDbcPool(broken, pool.address)).rejects.toMatchObject(fault)
    await expect(quoteDbcSwap(broken, pool, { side: 'buy', amount: 1n })).rejects.toMatchObject(fault)
  })
})

describe('progress', () => {
  it('is 1 only if the curve is full', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        (threshold, reserve) => {
          const progress = curveProgressOf({ quoteReserve: reserve, threshold })
          expect(progress === 1).toBe(reserve >= threshold)
          expect(progress).toBeGreaterThanOrEqual(0)
          expect(curveProgressOf({ quoteReserve: threshold - 1n, threshold })).toBeLessThan(1)
        },
      ),
    )
  })
})

describe('a swap', () => {
  for (const [name, side, messageConfig] of [
    ['buy', 'buy', undefined],
    ['sell', 'sell', undefined],
    ['v1-buy', 'buy', GOLDEN_CONFIG],
    ['v1-sell', 'sell', GOLDEN_CONFIG],
  ] as const) {
    it.skipIf(RECORDING && lacksDbc)(`is built as recorded: ${name}`, async ({ annotate }) => {
      const swap = { ...order(await goldenPool(), side, 1_000_000_000n, 1n), messageConfig }
      const { transaction } = await buildDbcSwap(swap)
      const bytes = await expectGolden(`dbc-swap-${name}`, transaction, async () => {
        const opened = await openDbcChain()
        await opened.trade(await opened.launch(), 'buy', SOL)
        return opened.test
      })
      await annotate(`${name}: ${bytes} bytes`, 'size')
    })
  }
})

/** All that the pool holds and has paid out of fees, whoever they belong to. */
function feesOf({ raw }: DbcPool): bigint {
  const { metrics } = (raw.pool as { poolState: { metrics: Record<string, string> } }).poolState
  return BigInt(metrics.totalTradingQuoteFee!) + BigInt(metrics.totalProtocolQuoteFee!)
}
