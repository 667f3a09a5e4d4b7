/** Gives a transaction to the wallet on a phone: makes a pay request of a build, checks it, and shows its QR code. */
import type { PayRequest } from '../../src/api/pay-requests.ts'
import { payableRouteOf } from '../../src/api/payable-routes.ts'
import type { ClientRequest } from '../../src/client.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { requireCodeFile, showCode } from '../pay/code.ts'
import { followPayment } from '../pay/following.ts'
import { failure, usage } from '../ui/problem.ts'
import { type Demand, pays } from './demand.ts'
import type { SigningFlags } from './flags.ts'

interface PhoneBuild<D> {
  /** The answer of a transaction that a wallet would fetch. */
  data: D
  request: PayRequest
}

/**
 * Runs `build` with its request made a pay request, so that its answer is what the wallet of `signer` would fetch.
 * Throws a usage problem if a pay request cannot name the request.
 */
export async function buildForPhone<D>(
  session: Session,
  file: string,
  signer: string,
  build: () => Promise<{ data: D }>,
): Promise<PhoneBuild<D>> {
  requireCodeFile(file)
  const { client } = session
  let request: PayRequest | undefined
  session.divert(async (asked, send) => {
    if (!isPayable(asked)) return send(asked)
    // The requests of this function itself go on as usual.
    session.divert(null)
    const made = (await client.payRequests.create({ request: requestOf(asked), account: signer })).data
    request = made
    const { data } = await client.payRequests.build({ id: made.id, account: signer })
    return { status: 200, headers: {}, body: JSON.stringify({ data: data.build, meta: { request_id: made.id } }) }
  })
  try {
    const { data } = await build()
    if (request === undefined) throw usage('a QR code gives one transaction, and this takes several', { param: '--qr' })
    return { data, request }
  } finally {
    session.divert(null)
  }
}

const isPayable = ({ method, path }: ClientRequest) => payableRouteOf(method, path) !== null

function requestOf({ method, path, body }: ClientRequest) {
  const text = typeof body === 'string' ? body : ''
  const fields = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  return { method: method.toUpperCase() as 'POST' | 'PUT' | 'DELETE', path, body: fields }
}

/** The demand with the transfer of 0 to itself by which the payment is found on chain. */
export const withReference = (demand: Demand): Demand => ({
  ...demand,
  calls: [...demand.calls, pays(demand.payer, demand.payer, 0)],
})

/** Shows the code and waits until it is paid, unless the command does not wait. */
export async function payByPhone(
  session: Session,
  { qr = '', wait }: SigningFlags,
  request: PayRequest,
): Promise<CommandOutcome> {
  const isSeen = await showCode(session, request, qr)
  const { id, url, link, expires_at } = request
  if (wait === 'none') return { data: { id, state: request.state, url, link, expires_at } }
  if (!isSeen) {
    throw failure('nobody sees the QR code in this output, so nothing waits for it', {
      next: `show its content: ${link}; then \`svc pay watch ${id}\`. Or give --qr FILE.svg, or --wait none`,
    })
  }
  return followPayment(session, id, wait)
}
