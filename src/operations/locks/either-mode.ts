/** Answers a build about a lock unsigned, or signs it as the platform wallet. */
import type { SignedOperation } from '../../api/signed-operations.ts'
import type { Context } from '../../context.ts'
import { type BuiltTransaction, signingDraft, trackingOf, unsignedAnswer } from '../building.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun } from '../signing/signing-run.ts'
import { generatedKeysField } from '../transactions/generated-keys.ts'

export interface LockBuild<S> {
  built: BuiltTransaction
  /** The part of the answer that is the same in both modes, as JSON. */
  summary: S & { address: string }
  /** What it is about, for those who approve it, where the address of the lock does not say it. */
  about?: string
}

/** With `mode: signed` the platform wallet is the payer, whatever the request says. */
export async function inEitherMode<S extends object>(
  context: Context,
  { mode, payer }: { mode: 'unsigned' | 'signed'; payer: string },
  operation: SignedOperation,
  build: (payer: string) => Promise<LockBuild<S>>,
) {
  const tracked = ({ address }: { address: string }) => trackingOf('lock', address, [])
  if (mode === 'unsigned') {
    const { built, summary } = await build(payer)
    return {
      ...unsignedAnswer(built),
      ...generatedKeysField(context.vault, [built.transaction], built.secretKeys),
      ...summary,
      tracked_resource: tracked(summary),
    }
  }
  const run = await openSigningRun<LockBuild<S>['summary']>(context, operation)
  const sign = async () => {
    const { built, summary, about } = await build(run.wallet)
    const named = about === undefined ? {} : { about }
    return { first: signingDraft(built), state: summary, tracked_resource: tracked(summary), ...named }
  }
  const plan = run.resumed ?? (await sign())
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({ mode: 'signed' as const, signature, ...plan.state }),
  })
}
