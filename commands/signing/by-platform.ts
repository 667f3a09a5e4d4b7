/** What the platform wallet signs: asked for under an Idempotency-Key, so that a lost answer can be asked for again. */
import { ApiError } from '../../src/errors.ts'
import type { Session } from '../command.ts'
import { failure, usage } from '../ui/problem.ts'

/** From one try to the next, in milliseconds. */
const AGAIN_MS = [500, 2_000, 5_000] as const

/** Throws a usage problem without a signer. */
export async function platformAddress({ client }: Session): Promise<string> {
  const { address } = (await client.signer.get()).data
  if (address !== null) return address
  throw usage('no signer is configured, and --signed needs the platform wallet', {
    param: '--signed',
    next: 'svc config set signer keypair (docs/signer.md), or sign with your own keypair',
  })
}

/** Asks again under the same key while it is not known how it ended; the failure then names the key. */
export async function signedOnce<T>(
  session: Session,
  key: string,
  call: (options: { idempotencyKey: string }) => Promise<T>,
): Promise<T> {
  session.lastWords(`Perhaps signed: see \`svc audit list\`, or repeat it with --idempotency-key ${key}`)
  try {
    for (let tries = 0; ; tries++) {
      session.ui.waiting('the platform wallet signs')
      try {
        return await call({ idempotencyKey: key })
      } catch (error) {
        if (!(error instanceof ApiError) || !isPassing(error, tries)) throw error
        const pause = AGAIN_MS[tries]
        if (pause === undefined) throw unclear(error, key)
        await session.clock.sleep(pause)
      }
    }
  } finally {
    session.ui.waiting(null)
    session.lastWords(null)
  }
}

/** An answer in the API's envelope is its last word; after a lost one, a conflict says that it still runs. */
const isPassing = (error: ApiError, tries: number) =>
  (error.code === 'internal_error' && !('envelope' in error)) ||
  (tries > 0 && (error.code === 'conflict' || error.code === 'rate_limited'))

const unclear = (error: ApiError, key: string) =>
  failure(`${error.message}; whether it was signed is not known`, {
    next: `repeat it with --idempotency-key ${key}: it is done once`,
    details: { ...error.details, idempotency_key: key },
    cause: error,
  })
