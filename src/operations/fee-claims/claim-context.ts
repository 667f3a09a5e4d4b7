/** The part of a request's context that planning and signing a claim use. A worker that claims by a schedule makes its own. */
import type { Context } from '../../context.ts'
import type { SigningContext } from '../signing/types.ts'

export type ClaimContext = SigningContext &
  Pick<Context, 'txVersion'> & {
    /** Nobody chooses the version of a worker's transaction. */
    isWorker?: true
  }
