/** Previews a launch: the curve from point to point, and the pool that it migrates to, without a chain. */
import { openDbc } from '../program.ts'
import type { LaunchCurve } from '../types.ts'
import { type MigrationPreview, migrateInMemory } from './migration.ts'
import { isFilled, openMemoryCurve } from './trading.ts'
import { type CurvePoint, type WalkOptions, walkCurve } from './walk.ts'

export type { MigrationPreview, OwnedLiquidity } from './migration.ts'
export type { PartyAmounts } from './trading.ts'
export type { CurvePoint, Depth } from './walk.ts'

export interface CurvePreview {
  points: CurvePoint[]
  /** Raw units that are minted with the pool. */
  supply: bigint
  threshold: bigint
  migration: MigrationPreview | null
}

/** All amounts equal those of the program to the raw unit, for the trades that `walkCurve` assumes. */
export async function previewCurve(
  { parameters }: Pick<LaunchCurve, 'parameters'>,
  options: WalkOptions,
): Promise<CurvePreview> {
  const curve = openMemoryCurve(await openDbc(), parameters)
  const { points, last } = walkCurve(curve, options)
  const baseSold = points.at(-1)?.baseSold ?? 0n
  const migration = isFilled(curve, last) ? migrateInMemory(curve, last, baseSold) : null
  return { points, supply: curve.supply, threshold: curve.threshold, migration }
}
