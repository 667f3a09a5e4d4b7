/** Random launches, as many as asked for, that equal their previews at 20 points each, and every second through its migration. */
import { validateConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect } from 'vitest'
import { buildCurve, type LaunchCurve } from '../../src/chain/programs/dbc/index.ts'
import { presetWith } from './dbc.ts'
import { anyWholePreset } from './preset-space.ts'
import { expectSameCurve, expectSameMigration, openPreviewedChain } from './previewed-launches.ts'

/** Later than the opening, in seconds: at once, within a dynamic fee's periods, and after most schedules. */
const anySeconds = fc.constantFrom(0, 1, 30, 90, 86_400)
const anyBuyShare = fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 1.1, noNaN: true }))

/** As a config that leaves the supply to the program; null where it takes none. */
function withSupplyOfProgram(curve: LaunchCurve): LaunchCurve | null {
  const parameters = { ...curve.parameters, tokenSupply: null }
  try {
    validateConfigParameters({ ...parameters, leftoverReceiver: new PublicKey(new Uint8Array(32).fill(9)) })
    return { ...curve, parameters }
  } catch {
    return null
  }
}

/** Returns what was compared. */
export async function expectPreviewsOfRandomPresets(numRuns: number) {
  const chain = await openPreviewedChain()
  const seen = { points: 0, migrations: 0, compounding: 0 }
  await fc.assert(
    fc.asyncProperty(anyWholePreset, fc.boolean(), anyBuyShare, anySeconds, async (fields, fixed, share, seconds) => {
      const plain = await buildCurve(presetWith(fields)).catch(() => null)
      const curve = fixed ? plain : plain && withSupplyOfProgram(plain)
      fc.pre(curve !== null && curve.thresholdLamports < 10n ** 15n && curve.thresholdLamports > 1_000n)
      const buy = BigInt(Math.floor(Number(curve!.thresholdLamports) * share))
      const { pool, preview } = await expectSameCurve(chain, curve!, { buy, points: 20, seconds })
      seen.points += preview.points.length
      if (seen.points % 2 === 0) return
      await expectSameMigration(chain, pool, preview)
      seen.migrations++
      seen.compounding += Number(curve!.parameters.migratedPoolFee.collectFeeMode === 2)
    }),
    { numRuns },
  )
  expect(seen.points).toBeGreaterThan(numRuns * 8)
  // Every second one of a few may be none.
  if (numRuns >= 40) expect(seen.migrations).toBeGreaterThan(numRuns / 5)
  return seen
}
