/** Answers a build about a position unsigned, or signs it as the platform wallet. */
import type { SignedOperation } from '../../api/signed-operations.ts'
import type { Context } from '../../context.ts'
import { inEitherMode, type PlannedBuild } from '../act.ts'
import { trackingOf } from '../building.ts'

export type PositionBuild<S> = Omit<PlannedBuild<S & { pool_address: string; position: string }>, 'tracked' | 'about'>

export const positionInEitherMode = <S extends object>(
  context: Context,
  input: { mode: 'unsigned' | 'signed'; payer: string },
  operation: SignedOperation,
  build: (payer: string) => Promise<PositionBuild<S>>,
) =>
  inEitherMode(context, input, operation, async (payer) => {
    const planned = await build(payer)
    const { pool_address, position } = planned.summary
    const about = `the position ${position} in the pool ${pool_address}`
    return { ...planned, tracked: trackingOf('pool', pool_address, []), about }
  })

/** The answer of a route in both modes, without what only one of them has. */
export type SummaryOf<R> = Omit<Extract<R, { mode: 'signed' }>, 'mode' | 'signature'>
