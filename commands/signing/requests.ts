/**
 * Makes requests that must be carried out once: submitting signed bytes, and requesting a signature of the platform
 * wallet.
 */
import type { Client } from '../../src/client.ts'
import { ApiError } from '../../src/platform/errors.ts'
import type { Session } from '../cli/session.ts'
import { failure } from '../ui/problem.ts'

type SubmitBody = Parameters<Client['transactions']['submit']>[0]
type SubmitAnswer = Awaited<ReturnType<Client['transactions']['submit']>>['data']

/** Milliseconds between attempts; the idempotency key makes a retry safe. */
const SUBMIT_PAUSES_MS = [500, 2_000] as const
const PLATFORM_PAUSES_MS = [500, 2_000, 5_000] as const

interface RequestOnce<T> {
  idempotencyKey: string
  pauses: readonly number[]
  /** Text shown while svc waits for the answer. */
  waiting: string
  /** Text shown if Ctrl-C ends the command meanwhile. */
  interrupted: string
  call(options: { idempotencyKey: string }): Promise<T>
  /** Whether the result is unknown after an internal error of the API; otherwise the error is thrown unchanged. */
  answeredErrorIsOpen: boolean
  /** The failure if the result is unknown. */
  unknownResult(error: ApiError): Error
}

/** Repeats a request under one key until there is an answer or no pause is left. */
export async function requestOnce<T>(session: Session, request: RequestOnce<T>): Promise<T> {
  const { idempotencyKey, pauses, answeredErrorIsOpen } = request
  session.setInterruptNote(request.interrupted)
  try {
    for (let attempt = 0; ; attempt++) {
      session.ui.waiting(request.waiting)
      try {
        return await request.call({ idempotencyKey })
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const isAnswered = error.code === 'internal_error' && 'envelope' in error
        if (!isResultOpen(error, attempt) || (isAnswered && !answeredErrorIsOpen)) throw error
        const pause = pauses[attempt]
        if (pause === undefined || isAnswered) throw request.unknownResult(error)
        await session.clock.sleep(pause)
      }
    }
  } finally {
    session.ui.waiting(null)
    session.setInterruptNote(null)
  }
}

/**
 * After an attempt without an answer, a conflict means that the request is still running; a rate-limited retry shows
 * nothing.
 */
const isResultOpen = ({ code }: ApiError, attempt: number) =>
  code === 'internal_error' || (attempt > 0 && (code === 'conflict' || code === 'rate_limited'))

/** Submits under a new idempotency key. `signature` is that of the first transaction in `body`. */
export async function submitSigned(session: Session, signature: string, body: SubmitBody): Promise<SubmitAnswer> {
  await session.ui.preview([`signature ${signature}`])
  return requestOnce(session, {
    idempotencyKey: crypto.randomUUID(),
    pauses: SUBMIT_PAUSES_MS,
    waiting: 'submitting',
    interrupted: `Perhaps submitted: see \`svc tx get ${signature}\``,
    call: async (options) => (await session.client.transactions.submit(body, options)).data,
    answeredErrorIsOpen: true,
    unknownResult(error) {
      const { envelope } = error as { envelope?: { meta?: { request_id?: string } } }
      const requestId = envelope?.meta?.request_id
      return failure(`${error.message}; it is unknown whether ${signature} was sent`, {
        next: `look at \`svc tx get ${signature}\``,
        details: { ...error.details, signature, ...(requestId === undefined ? {} : { request_id: requestId }) },
        cause: error,
      })
    },
  })
}

/** Requests a signature of the platform wallet. If the result is unknown, the failure names the idempotency key. */
export const requestPlatformSignature = <T>(
  session: Session,
  idempotencyKey: string,
  call: (options: { idempotencyKey: string }) => Promise<T>,
): Promise<T> =>
  requestOnce(session, {
    idempotencyKey,
    pauses: PLATFORM_PAUSES_MS,
    waiting: 'the platform wallet signs',
    interrupted: `Perhaps signed: see \`svc audit list\`, or repeat it with --idempotency-key ${idempotencyKey}`,
    call,
    answeredErrorIsOpen: false,
    unknownResult: (error) =>
      failure(`${error.message}; it is unknown whether it was signed`, {
        next: `repeat it with --idempotency-key ${idempotencyKey}: it is done once`,
        details: { ...error.details, idempotency_key: idempotencyKey },
        cause: error,
      }),
  })
