/** Submits what is signed; when it is not known whether that arrived, the failure names the signature. */

import type { Client } from '../../src/client.ts'
import { ApiError } from '../../src/errors.ts'
import type { Session } from '../command.ts'
import { failure } from '../ui/problem.ts'

type Body = Parameters<Client['transactions']['submit']>[0]
type Answer = Awaited<ReturnType<Client['transactions']['submit']>>['data']

/** An idempotency key makes it safe to ask again, in milliseconds from one try to the next. */
const AGAIN_MS = [500, 2_000] as const

/** Under a fresh idempotency key; `signature` is the first of what is submitted. */
export async function submitSigned(session: Session, signature: string, body: Body): Promise<Answer> {
  const { client, clock, ui } = session
  const idempotencyKey = crypto.randomUUID()
  await ui.preview([`signature ${signature}`])
  session.lastWords(`Perhaps submitted: see \`svc tx status ${signature}\``)
  try {
    for (let tries = 0; ; tries++) {
      ui.waiting('submitting')
      try {
        return (await client.transactions.submit(body, { idempotencyKey })).data
      } catch (error) {
        if (!(error instanceof ApiError) || !isPassing(error, tries)) throw error
        const pause = AGAIN_MS[tries]
        if (pause === undefined || (error.code === 'internal_error' && 'envelope' in error)) {
          throw unclear(signature, error)
        }
        await clock.sleep(pause)
      }
    }
  } finally {
    ui.waiting(null)
    session.lastWords(null)
  }
}

/** After a try whose answer was lost, a conflict says that it still runs, and a refused retry says nothing of it. */
const isPassing = ({ code }: ApiError, tries: number) =>
  code === 'internal_error' || (tries > 0 && (code === 'conflict' || code === 'rate_limited'))

function unclear(signature: string, error: ApiError) {
  const { envelope } = error as { envelope?: { meta?: { request_id?: string } } }
  const request = envelope?.meta?.request_id
  return failure(`${error.message}; whether ${signature} was sent is not known`, {
    next: `\`svc tx status ${signature}\` tells`,
    details: { ...error.details, signature, ...(request === undefined ? {} : { request_id: request }) },
    cause: error,
  })
}
