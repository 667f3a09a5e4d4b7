import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildLiquidityRemoval, buildPermanentLock, receivedFor } from '../../src/chain/programs/damm-v2/index.ts'
import { HAS_DAMM_V2, openedPool, SIGNATURE_FEE, STRANGERS_POOLS } from '../support/damm-v2.ts'
import { GOLDEN_BLOCKHASH } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

describe.skipIf(!HAS_DAMM_V2)('a position of a pool (needs Meteora DAMM v2 in the cache)', () => {
  it.each(Object.keys(STRANGERS_POOLS))(
    '%s pays exactly what it is worth, and keeps what is locked',
    { tags: 'sampled' },
    async (name) => {
      const { chain, creator, payer, buy, sol, tokens, read } = await openedPool(name)
      await buy(5n * SOL)
      const property = fc.asyncProperty(
        fc.bigInt(1n, 3_000n),
        fc.bigInt(1n, SOL),
        fc.boolean(),
        async (bps, amount, locks) => {
          await buy(amount)
          const { pool, moment, position, parts } = await read()
          const liquidity = (parts.unlocked * bps) / 10_000n
          fc.pre(liquidity > 0n)
          const act = { payer, recentBlockhash: GOLDEN_BLOCKHASH, pool, position, refreshes: false, liquidity }
          const left = parts.unlocked - liquidity
          if (locks) {
            chain.land(await buildPermanentLock(act), creator)
            expect((await read()).parts).toMatchObject({ unlocked: left, locked: parts.locked + liquidity })
            return
          }
          const minimum = await receivedFor(moment, liquidity)
          const [hadTokens, hadSol] = [tokens(), sol()]
          chain.land(await buildLiquidityRemoval({ ...act, minimum }), creator)
          expect(tokens() - hadTokens).toBe(minimum.amountA)
          expect(sol() - hadSol).toBe(minimum.amountB - SIGNATURE_FEE)
          expect((await read()).parts).toMatchObject({ unlocked: left, locked: parts.locked })
        },
      )
      await fc.assert(property, { numRuns: runs(8, 25) })
    },
  )
})
