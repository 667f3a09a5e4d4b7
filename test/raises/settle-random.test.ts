/** Random raises on the real programs, settled in random steps: each step brings what it says, and nothing comes twice. */
import { describe, expect, it } from 'vitest'
import { creatorGains } from '../../src/chain/programs/presale/index.ts'
import { type PoolPlan, type RaisePool, raisedSum, raisePool } from '../../src/solana/raise-pool.ts'
import { HAS_DAMM_V2 } from '../support/damm-v2.ts'
import { FIRST_COME, FIXED, lacksPresale, PRO_RATA } from '../support/new-raises.ts'
import { randomOf } from '../support/random.ts'
import { runs } from '../support/runs.ts'
import { type SettledRaises, settledRaises } from '../support/settled-raises.ts'
import { SOL } from '../support/wallets.ts'

const lacks = lacksPresale || (HAS_DAMM_V2 ? '' : 'needs Meteora DAMM v2 in the program cache')
type Random = ReturnType<typeof randomOf>
const MOST_STEPS = 8

const planOf = (random: Random): PoolPlan => ({
  quote_bps: random.between(1, 10_000),
  reserve: String(random.between(10 ** 9, 4 * 10 ** 12)),
  ...random.pick([
    { price: 'raise', price_bps: random.between(100, 50_000) } as const,
    { price: 'reserve', price_bps: 10_000 } as const,
  ]),
  fee_bps: random.between(1, 9_900),
  locked_bps: random.pick([0, random.between(1, 9_999), 10_000]),
  when: 'after',
  opens_after_seconds: 600,
})

/** Settles in random steps until nothing is left, and sums what they said. */
async function settleAtRandom(raises: SettledRaises, id: string, random: Random) {
  const sums = { quote: 0n, tokens: 0n }
  const acts: string[] = []
  for (let n = 0; n < MOST_STEPS; n++) {
    const skip_pool = n < 2 && random.chance(0.3)
    const answer = await raises.ask('POST', `/v2/raises/${id}/settlements`, {
      payer: raises.seller.publicKey.toBase58(),
      skip_pool,
    })
    if (answer.status === 400) {
      expect(answer.json.error.message).toContain('is settled')
      if (!skip_pool) return { sums, acts }
      continue
    }
    const data = await raises.settle(id, { skip_pool, ...(random.chance(0.3) ? { tx_version: 1 } : {}) })
    sums.quote += BigInt(data.quote) - BigInt(data.pool_quote)
    sums.tokens += BigInt(data.tokens) - BigInt(data.pool_tokens)
    acts.push(...data.acts)
  }
  throw new Error('the settlement does not end')
}

async function settleOne(seed: number): Promise<void> {
  const random = randomOf(seed)
  const raises = await settledRaises(random.chance(0.5) ? { 'priority-fee': '1000' } : {})
  const plan = random.chance(0.8) ? planOf(random) : null
  const unsold = random.pick(['return', 'burn'])
  const terms = random.pick([FIXED, PRO_RATA, FIRST_COME])
  const { id } = await raises.create({
    ...{ ...terms, unsold, deposit_fee_bps: random.pick([0, random.between(1, 5_000)]) },
    ...(plan === null ? {} : { pool: plan }),
  })
  const most = terms === PRO_RATA ? 4_000 : 1_600
  for (let n = random.between(1, 3); n > 0; n--) raises.buy(id, (BigInt(random.between(100, most)) * SOL) / 1_000n)
  raises.end(id)
  const [tokens, raise] = [raises.tokens(), raises.read(id)]
  const gains = creatorGains(raise)
  const { sums, acts } = await settleAtRandom(raises, id, random)
  const pool = plan === null || gains.raised === 0n ? null : (raisePool(plan, raisedSum(raise)) as RaisePool)
  expect(new Set(acts).size, `seed ${seed}: ${acts}`).toBe(acts.length)
  expect(acts.includes('open_pool'), `seed ${seed}`).toBe(pool !== null)
  const quote = gains.raised + gains.fees - (pool?.quote ?? 0n)
  const returned = gains.returned + (unsold === 'return' ? gains.unsold : 0n) - (pool?.tokens ?? 0n)
  expect({ ...sums }, `seed ${seed}`).toEqual({ quote, tokens: returned })
  expect([raises.wrapped(), raises.tokens() - tokens], `seed ${seed}`).toEqual([quote, returned])
  const opened = await raises.pool()
  expect(opened?.locked ?? null, `seed ${seed}`).toBe(pool?.locked ?? null)
}

describe.skipIf(lacks !== '')(`the settlement of a random raise ${lacks}`, () => {
  it.each(Array.from({ length: runs(5, 60) }, (_, n) => n))(
    'pays its creator to the unit: %i',
    { tags: 'sampled' },
    settleOne,
  )
})
