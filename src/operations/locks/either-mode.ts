/** Answers a build about a lock unsigned, or signs it as the platform wallet. */
import type { SignedOperation } from '../../api/signed-operations.ts'
import type { Context } from '../../context.ts'
import { trackingOf } from '../building.ts'
import { inEitherMode, type PlannedBuild } from '../either-mode.ts'

/** `about` is left out where the address of the lock says it. */
export type LockBuild<S> = Omit<PlannedBuild<S & { address: string }>, 'tracked'>

/** With `mode: signed` the platform wallet is the payer, whatever the request says. */
export const lockInEitherMode = <S extends object>(
  context: Context,
  input: { mode: 'unsigned' | 'signed'; payer: string },
  operation: SignedOperation,
  build: (payer: string) => Promise<LockBuild<S>>,
) =>
  inEitherMode(context, input, operation, async (payer) => {
    const planned = await build(payer)
    return { ...planned, tracked: trackingOf('lock', planned.summary.address, []) }
  })
