/** Answers an act on a token: unsigned for the payer, or signed by the platform wallet in its place. */
import type { TrackedResource } from '../../../api/index.ts'
import type { WalletAct } from '../../../chain/programs/tokens/index.ts'
import type { Context } from '../../../context.ts'
import { inEitherMode, type PlannedBuild } from '../../act.ts'
import { trackingOf } from '../../building.ts'

export interface ActInput {
  mint: string
  payer: string
  mode: 'unsigned' | 'signed'
}

/** Without `about`, an act is about its mint. */
export interface PlannedAct<S extends object> extends Omit<PlannedBuild<S>, 'tracked'> {
  /** Events that its confirmation causes. */
  events?: TrackedResource['related_events']
}

/** `plan` reads the chain, checks and builds for the payer that it is given. Throws its errors. */
export const answerAct = <I extends ActInput, S extends object>(
  context: Context,
  act: WalletAct | 'pause' | 'resume' | 'close' | 'update',
  input: I,
  plan: (input: I) => Promise<PlannedAct<S>>,
) =>
  inEitherMode(context, input, `token.${act}`, async (payer) => {
    const { events = [], ...planned } = await plan({ ...input, payer })
    return { ...planned, tracked: trackingOf('token', input.mint, events) }
  })
