/** Answers a build unsigned for its payer, or signs it as the platform wallet. */
import type { TrackedResource } from '../api/index.ts'
import type { SignedOperation } from '../api/signed-operations.ts'
import type { Context } from '../context.ts'
import { type BuiltTransaction, signingDraft, unsignedAnswer } from './building.ts'
import { signAndSubmit } from './signing/sign-and-submit.ts'
import { openSigningRun } from './signing/signing-run.ts'
import type { NewSigningPlan } from './signing/types.ts'
import { generatedKeysField } from './transactions/generated-keys.ts'

export interface PlannedBuild<S extends object> {
  built: BuiltTransaction
  /** The part of the answer that is the same in both modes, as JSON. */
  summary: S
  tracked: TrackedResource
  /** What it is about, for those who approve it; without it, the tracked resource. */
  about?: string | undefined
}

/**
 * `plan` reads the chain, checks and builds for the payer that it is given. With `mode: signed` that is the platform
 * wallet, whatever the request says. Throws its errors.
 */
export async function inEitherMode<S extends object>(
  context: Context,
  { mode, payer }: { mode: 'unsigned' | 'signed'; payer: string },
  operation: SignedOperation,
  plan: (payer: string) => Promise<PlannedBuild<S>>,
) {
  if (mode === 'unsigned') {
    const { built, summary, tracked } = await plan(payer)
    return {
      ...unsignedAnswer(built),
      ...generatedKeysField(context.vault, [built.transaction], built.secretKeys),
      ...summary,
      tracked_resource: tracked,
    }
  }
  const run = await openSigningRun<S>(context, operation)
  const planSigned = async (): Promise<NewSigningPlan<S>> => {
    const { built, summary, tracked, about } = await plan(run.wallet)
    return {
      first: signingDraft(built),
      state: summary,
      tracked_resource: tracked,
      ...(about === undefined ? {} : { about }),
    }
  }
  const agreed = run.resumed ?? (await planSigned())
  return signAndSubmit(context, run, agreed, {
    answer: ([signature]) => ({ mode: 'signed' as const, signature, ...agreed.state }),
  })
}
