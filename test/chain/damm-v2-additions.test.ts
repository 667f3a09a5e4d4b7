import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildLiquidityAddition,
  buildLiquidityRemoval,
  buildPositionOpening,
  liquidityFor,
  positionAddresses,
  readPositions,
  receivedFor,
} from '../../src/chain/programs/damm-v2/index.ts'
import { HAS_DAMM_V2, openedPool, SIGNATURE_FEE, STRANGERS_POOLS } from '../support/damm-v2.ts'
import { GOLDEN_BLOCKHASH } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

describe.skipIf(!HAS_DAMM_V2)('liquidity that is added (needs Meteora DAMM v2 in the cache)', () => {
  it.each(Object.keys(STRANGERS_POOLS))(
    'costs exactly what was said in a pool %s, and returns no more',
    { tags: 'sampled' },
    async (name) => {
      const { chain, creator, payer, buy, sol, tokens, read } = await openedPool(name)
      const envelope = { payer, recentBlockhash: GOLDEN_BLOCKHASH }
      await buy(5n * SOL)
      const wanted = fc.record({
        amountA: fc.option(fc.bigInt(1n, 10n ** 13n)),
        amountB: fc.option(fc.bigInt(1n, 5n * SOL)),
      })
      const property = fc.asyncProperty(wanted, fc.bigInt(1n, SOL), async (asked, bought) => {
        fc.pre(asked.amountA !== null || asked.amountB !== null)
        await buy(bought)
        const before = await read()
        const cost = await liquidityFor(before.moment, asked)
        fc.pre(cost.liquidity > 0n && cost.amountA <= tokens() && cost.amountB < sol() / 2n)
        expect(cost).toMatchObject({ takesA: true, takesB: true })
        if (asked.amountA !== null) expect(cost.amountA).toBeLessThanOrEqual(asked.amountA)
        if (asked.amountB !== null) expect(cost.amountB).toBeLessThanOrEqual(asked.amountB)
        const act = { ...envelope, pool: before.pool, position: before.position, liquidity: cost.liquidity }
        const less = { ...cost, amountA: cost.amountA - 1n }
        const refused = chain.run(await buildLiquidityAddition({ ...act, maximum: less }), creator)
        expect(refused.err, 'with a unit less').not.toBeNull()
        const [hadTokens, hadSol] = [tokens(), sol()]
        chain.land(await buildLiquidityAddition({ ...act, maximum: cost }), creator)
        expect(hadTokens - tokens()).toBe(cost.amountA)
        expect(hadSol - sol()).toBe(cost.amountB + SIGNATURE_FEE)
        const added = await read()
        expect(added.parts.unlocked).toBe(before.parts.unlocked + cost.liquidity)
        const minimum = await receivedFor(added.moment, cost.liquidity)
        // The program refuses to pay nothing.
        if (minimum.amountA === 0n && minimum.amountB === 0n) return
        const [heldTokens, heldSol] = [tokens(), sol()]
        chain.land(await buildLiquidityRemoval({ ...act, refreshes: false, minimum }), creator)
        expect(tokens() - heldTokens).toBe(minimum.amountA)
        expect(sol() - heldSol).toBe(minimum.amountB - SIGNATURE_FEE)
        expect(minimum.amountA).toBeLessThanOrEqual(cost.amountA)
        expect(minimum.amountB).toBeLessThanOrEqual(cost.amountB)
        expect((await read()).parts).toEqual(before.parts)
      })
      await fc.assert(property, { numRuns: runs(6, 20) })
    },
  )

  it('opens a position that holds exactly it', async () => {
    const { chain, creator, payer, address, buy, tokens, read } = await openedPool('that takes fees in SOL')
    await buy(5n * SOL)
    const { pool, moment } = await read()
    const cost = await liquidityFor(moment, { amountA: null, amountB: SOL })
    const nft = Keypair.generate()
    const nftMint = nft.publicKey.toBase58()
    const had = tokens()
    const opening = {
      payer,
      recentBlockhash: GOLDEN_BLOCKHASH,
      pool,
      nftMint,
      liquidity: cost.liquidity,
      maximum: cost,
    }
    chain.land(await buildPositionOpening(opening), creator, nft)
    const { position } = await positionAddresses(nftMint)
    const opened = await read(position)
    expect(opened.position).toMatchObject({ nftMint, unlockedLiquidity: cost.liquidity, feeA: 0n, feeB: 0n })
    expect(had - tokens()).toBe(cost.amountA)
    expect(await readPositions(chain.connection, address, payer)).toHaveLength(2)
  })

  it('takes only the token while a pool is at its lowest price', async () => {
    const { read } = await openedPool('that takes fees in SOL')
    const { moment } = await read()
    const onlyA = await liquidityFor(moment, { amountA: 1_000_000n, amountB: null })
    expect(onlyA).toMatchObject({ amountA: 1_000_000n, amountB: 0n, takesA: true, takesB: false })
    expect(await liquidityFor(moment, { amountA: null, amountB: SOL })).toMatchObject({ liquidity: 0n, takesB: false })
  })
})
