/** Liquidity of a position on the real program: withdrawn and locked in random parts, exact to the raw unit. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildLiquidityRemoval,
  buildPermanentLock,
  liquidityParts,
  readPoolMoment,
  readPositions,
  receivedFor,
} from '../../src/chain/programs/damm-v2/index.ts'
import { HAS_DAMM_V2, openDammV2, openStrangersPool, SIGNATURE_FEE, type StrangersPool } from '../support/damm-v2.ts'
import { GOLDEN_BLOCKHASH } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

const POOLS: Record<string, StrangersPool> = {
  'that takes fees in SOL': {},
  'that takes fees from both sides': { collectFeeMode: cpAmm.CollectFeeMode.BothToken },
  'that counts slots': { activationType: cpAmm.ActivationType.Slot },
  'of a token with a transfer fee': { transferFeeBps: 300 },
}

describe.skipIf(!HAS_DAMM_V2)('a position of a pool (needs Meteora DAMM v2 in the cache)', () => {
  it.each(Object.keys(POOLS))(
    '%s pays exactly what it is worth, and keeps what is locked',
    { tags: 'sampled' },
    async (name) => {
      const wishes = POOLS[name] ?? {}
      const chain = await openDammV2()
      const keys = { creator: chain.wallet(), mint: Keypair.generate(), positionNft: Keypair.generate() }
      const address = await openStrangersPool(chain.test, keys, wishes)
      const { publicKey } = keys.creator
      const payer = publicKey.toBase58()
      const program = wishes.transferFeeBps === undefined ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
      const wrapped = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, publicKey)
      const trader = chain.wallet()
      const buy = async (amount: bigint) => {
        chain.chain.advance(1)
        chain.land(await chain.swap(await chain.read(address), trader, { side: 'buy', amount }), trader)
      }
      const sol = () => chain.lamportsOf(publicKey) + chain.lamportsOf(wrapped)
      const tokens = () => chain.tokensOf(publicKey, keys.mint.publicKey.toBase58(), program) ?? 0n
      const read = async () => {
        const pool = await chain.read(address)
        const moment = await readPoolMoment(chain.connection, pool)
        const [position] = await readPositions(chain.connection, address, payer)
        return { pool, moment, position: position!, parts: liquidityParts(position!, moment.point) }
      }
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
            chain.land(await buildPermanentLock(act), keys.creator)
            expect((await read()).parts).toMatchObject({ unlocked: left, locked: parts.locked + liquidity })
            return
          }
          const minimum = await receivedFor(moment, liquidity)
          const [hadTokens, hadSol] = [tokens(), sol()]
          chain.land(await buildLiquidityRemoval({ ...act, minimum }), keys.creator)
          expect(tokens() - hadTokens).toBe(minimum.amountA)
          expect(sol() - hadSol).toBe(minimum.amountB - SIGNATURE_FEE)
          expect((await read()).parts).toMatchObject({ unlocked: left, locked: parts.locked })
        },
      )
      await fc.assert(property, { numRuns: runs(8, 25) })
    },
  )
})
