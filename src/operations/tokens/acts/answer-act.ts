/** Answers an act on a token: unsigned for the payer, or signed by the platform wallet in its place. */
import type { TrackedResource } from '../../../api/index.ts'
import type { WalletAct } from '../../../chain/programs/tokens/index.ts'
import type { Context } from '../../../context.ts'
import { type BuiltTransaction, signingDraft, trackingOf, unsignedAnswer } from '../../building.ts'
import { signAndSubmit } from '../../signing/sign-and-submit.ts'
import { openSigningRun } from '../../signing/signing-run.ts'
import type { NewSigningPlan } from '../../signing/types.ts'

export interface ActInput {
  mint: string
  payer: string
  mode: 'unsigned' | 'signed'
}

export interface PlannedAct<S extends object> {
  built: BuiltTransaction
  /** The part of the answer that is the same in both modes. */
  summary: S
  /** What it is about, for those who approve it; without it, the mint. */
  about?: string
  /** Events that its confirmation causes. */
  events?: TrackedResource['related_events']
}

/** `plan` reads the chain, checks and builds for the payer that it is given. Throws its errors. */
export async function answerAct<I extends ActInput, S extends object>(
  context: Context,
  act: WalletAct | 'pause' | 'resume' | 'close' | 'update',
  input: I,
  plan: (input: I) => Promise<PlannedAct<S>>,
) {
  const tracking = ({ events = [] }: PlannedAct<S>) => trackingOf('token', input.mint, events)
  if (input.mode === 'unsigned') {
    const planned = await plan(input)
    return { ...unsignedAnswer(planned.built), ...planned.summary, tracked_resource: tracking(planned) }
  }
  const run = await openSigningRun<S>(context, `token.${act}`)
  const planSigned = async (): Promise<NewSigningPlan<S>> => {
    const planned = await plan({ ...input, payer: run.wallet })
    const { built, summary, about } = planned
    return {
      first: signingDraft(built),
      state: summary,
      tracked_resource: tracking(planned),
      ...(about === undefined ? {} : { about }),
    }
  }
  const agreed = run.resumed ?? (await planSigned())
  return signAndSubmit(context, run, agreed, {
    answer: ([signature]) => ({ mode: 'signed' as const, signature, ...agreed.state }),
  })
}
