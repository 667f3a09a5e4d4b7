/** Waits until a pay request is paid, and its transaction has reached the requested lifecycle. */
import type { PayRequest } from '../../src/api/pay-requests.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import type { Wait } from '../signing/flags.ts'
import { RATE_LIMIT_PAUSE_MS, waitForTransaction } from '../signing/following.ts'
import { failure, isTransient } from '../ui/problem.ts'

const PAUSE_MS = 1_500
/** Milliseconds after its end in which a transaction can still land that a wallet fetched before. */
const LAST_MS = 120_000

/** The outcome with the signature and the lifecycle. Throws a failure if the request ends without a payment. */
export async function followPayment(
  session: Session,
  id: string,
  wait: Exclude<Wait, 'none'> = 'confirmed',
): Promise<CommandOutcome> {
  const paid = await untilPaid(session, id)
  const { signature, state, tracked_resource } = paid
  if (signature === null) throw failure(`the API answered that ${id} is paid, and not by which transaction`)
  const transaction = await waitForTransaction(session, signature, wait)
  if (transaction.lifecycle === 'failed') {
    throw failure(`${signature} failed: ${transaction.error?.message ?? JSON.stringify(transaction.err)}`, {
      next: 'make a new QR code',
      details: { id, signature, err: transaction.err },
    })
  }
  const { lifecycle, slot } = transaction
  const data = { id, state, signature, lifecycle, slot, ...(tracked_resource === null ? {} : { tracked_resource }) }
  return { data }
}

async function untilPaid(session: Session, id: string): Promise<PayRequest> {
  const { client, clock, ui } = session
  session.setInterruptNote(`Stopped waiting: see \`svc pay watch ${id}\`, or end it with \`svc pay revoke ${id}\``)
  let endedAt: number | undefined
  try {
    for (;;) {
      let pause = PAUSE_MS
      const data = await client.payRequests.get({ id }).then(
        (answer) => answer.data,
        (error: unknown) => {
          if (!isTransient(error)) throw error
          if (error.code === 'rate_limited') pause = RATE_LIMIT_PAUSE_MS
          return null
        },
      )
      if (data?.state === 'paid') return data
      if (data !== null && data.state !== 'open') {
        endedAt ??= clock.now()
        // Nobody has fetched a transaction, or time for the last one is over.
        if (data.builds === 0 || clock.now() - endedAt > LAST_MS) throw unpaid(data)
      }
      if (data !== null)
        ui.waiting(data.builds === 0 ? 'waiting for a wallet' : 'a wallet has opened it, waiting until it is paid')
      await clock.sleep(pause)
    }
  } finally {
    ui.waiting(null)
    session.setInterruptNote(null)
  }
}

const unpaid = ({ id, state }: PayRequest) =>
  failure(`${id} is ${state}, and nothing was paid`, { next: 'make a new QR code', details: { id, state } })
