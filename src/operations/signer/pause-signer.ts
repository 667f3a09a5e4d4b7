/** Pauses the signer, which then refuses every transaction, and resumes it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { changeSigner } from './change-signer.ts'

type Pause = Api['signer']['pause']
type Resume = Api['signer']['resume']

export async function pauseSigner(context: Context, { reason }: Input<Pause>): Promise<Result<Pause>> {
  return changeSigner(context, 'signer.paused', () => ({
    changes: { paused: 1, paused_reason: reason ?? null, updated_at: context.clock.now() },
    details: reason === undefined ? {} : { reason },
  }))
}

export async function resumeSigner(context: Context, _: Input<Resume>): Promise<Result<Resume>> {
  return changeSigner(context, 'signer.resumed', () => ({
    changes: { paused: 0, paused_reason: null, updated_at: context.clock.now() },
    details: {},
  }))
}
