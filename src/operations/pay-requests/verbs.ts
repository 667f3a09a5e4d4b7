/** Pay requests: create, read, list, revoke, and build for the key that made one. */
import { randomBytes } from 'node:crypto'
import type { Api } from '../../api/index.ts'
import { validateInput } from '../../api/input-validation.ts'
import { PAYABLE_ROUTES, payableRouteOf, routeText } from '../../api/payable-routes.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { SECOND_MS } from '../../platform/timing.ts'
import { addressOf } from '../../solana/addresses.ts'
import { KEY_BYTES } from '../../solana/constants.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { publicBase } from '../../storage/public-base.ts'
import { newId } from '../../store/id.ts'
import {
  findPayRequest,
  insertPayRequest,
  lockPayRequest,
  type PayRequestRow,
  pagePayRequests,
  updatePayRequest,
} from '../../store/resources/pay-requests.ts'
import type { Reader } from '../../store/store.ts'
import { recordPage } from '../api-records.ts'
import { payableRoute, previewPayment } from './build-payment.ts'
import { payRequestRecord } from './payments.ts'

type Routes = Api['payRequests']

/** Bytes of a stored body. Strangers make the daemon read it, so it is far below the limit of a request. */
const MOST_BODY_BYTES = 32 * 1024

/** Stores a build that a wallet fetches after it has read a QR code. */
export async function createPayRequest(
  context: Context,
  input: Input<Routes['create']>,
): Promise<Result<Routes['create']>> {
  const { chain, config, clock, actor } = context
  if (context.role === null) {
    throw badRequest('A wallet fetches the transaction from a running daemon, and none runs: start `svc serve`')
  }
  const { account, body } = await checkedRequest(input)
  const base = await publicBase(config, chain.cluster.label, 'wallets fetch transactions from there')
  const genesis = await chain.genesisHash()
  const id = newId('pay')
  const now = clock.now()
  return context.commit(async (tx) => {
    const row = await insertPayRequest(tx, {
      id,
      api_key_id: actor.apiKeyId,
      method: input.request.method,
      path: input.request.path,
      body_json: JSON.stringify(body),
      account,
      url: `${base}/v2/pay/${id}`,
      reference: addressOf(randomBytes(KEY_BYTES)),
      genesis,
      state: 'open',
      signature: null,
      tracked_resource_json: null,
      builds: 0,
      recent_builds_json: '[]',
      held_by: null,
      held_until: 0,
      seen_signature: null,
      next_look_at: null,
      expires_at: now + input.expires_in * SECOND_MS,
      external_uid: context.externalUid ?? null,
      metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
      created_at: now,
    })
    return payRequestRecord(row, now)
  })
}

/** Returns the wallet, and the body without it. Throws bad_request for a request that its route would refuse. */
async function checkedRequest({
  request,
  account,
}: Input<Routes['create']>): Promise<{ account: string | null; body: Record<string, unknown> }> {
  const { method, path } = request
  const found = payableRouteOf(method, path)
  if (found === null) throw unpayable(`${method} ${path}`)
  const field = found.route.account
  const { [field]: inBody, ...rest } = request.body
  const own = found.params[field] ?? inBody
  if (own !== undefined && account !== undefined && own !== account) {
    throw badRequest(`account is ${account}, and ${field} of the request is ${String(own)}: send one wallet`, {
      param: 'account',
    })
  }
  if (Buffer.byteLength(JSON.stringify(rest)) > MOST_BODY_BYTES) {
    throw badRequest(`request.body has more than ${MOST_BODY_BYTES} bytes: a pay request stores no more`, {
      param: 'request.body',
    })
  }
  const wallet = account ?? own ?? null
  requireForWallets(rest)
  const route = await payableRoute(found.route.name)
  if (route.params) validateInput(route.params, found.params)
  const isInPath = found.params[field] !== undefined
  if (route.body) validateInput(route.body, { ...rest, ...(isInPath ? {} : { [field]: wallet ?? WRAPPED_SOL }) })
  return { account: wallet as string | null, body: rest }
}

/** Throws for the fields that make no sense for a wallet that fetches the transaction. */
function requireForWallets(body: Record<string, unknown>): void {
  if ((body.mode ?? 'unsigned') !== 'unsigned') {
    throw badRequest('request.body.mode must be "unsigned": the wallet that fetches the transaction signs it', {
      param: 'request.body.mode',
    })
  }
  if (body.dry_run === true) {
    throw badRequest('request.body.dry_run builds nothing that could be signed: leave it out', {
      param: 'request.body.dry_run',
    })
  }
  if (body.approver !== undefined) {
    throw badRequest(
      'request.body.approver proposes what is built: make the proposal first, and a QR code for its approval',
      { param: 'request.body.approver' },
    )
  }
  if (body.tx_version === 1) {
    throw badRequest('request.body.tx_version must be 0: wallets that read QR codes take no version 1', {
      param: 'request.body.tx_version',
    })
  }
  if (body.swap_to_sol === true) {
    throw badRequest('request.body.swap_to_sol takes two transactions, and a QR code gives one: leave it out', {
      param: 'request.body.swap_to_sol',
    })
  }
}

const unpayable = (route: string) =>
  badRequest(
    `request: ${route} is not a route that builds one transaction for a wallet: it must be one of ${PAYABLE_ROUTES.map(({ at }) => routeText(at)).join(', ')}`,
    { param: 'request.path' },
  )

/** Reads one pay request of the caller. */
export async function getPayRequest(context: Context, { id }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  return payRequestRecord(await ownPayRequest(context, context.store.db, id), context.clock.now())
}

/** Lists pay requests, newest first: those of the caller's key, or all of them with the scope `*`. */
export async function listPayRequests(
  { store, clock, actor }: Context,
  page: Input<Routes['list']>,
): Promise<Result<Routes['list']>> {
  const filters = actor.scopes.includes('*') ? {} : { api_key_id: actor.apiKeyId }
  const now = clock.now()
  return recordPage(await pagePayRequests(store.db, { ...page, ...filters }), (row) => payRequestRecord(row, now))
}

/** Revokes a pay request of the caller, so that wallets get no further transaction. */
export async function revokePayRequest(
  context: Context,
  { id }: Input<Routes['revoke']>,
): Promise<Result<Routes['revoke']>> {
  return context.commit(async (tx) => {
    await lockPayRequest(tx, id)
    const { state, signature } = await ownPayRequest(context, tx, id)
    if (state === 'paid') {
      throw badRequest(`${id} is paid already, by ${signature}`, { param: 'id', details: { signature } })
    }
    await updatePayRequest(tx, id, { state: 'revoked' })
    return { id, deleted: true as const }
  })
}

/** Builds the transaction of a pay request for the key that made it, which checks it before anybody reads the QR code. */
export async function buildForOwner(
  context: Context,
  { id, account }: Input<Routes['build']>,
): Promise<Result<Routes['build']>> {
  return previewPayment(context, await ownPayRequest(context, context.store.db, id), account)
}

/** Throws not_found for an unknown id, and for a request of another key. */
async function ownPayRequest({ actor }: Pick<Context, 'actor'>, reader: Reader, id: string): Promise<PayRequestRow> {
  const row = await findPayRequest(reader, id)
  if (row !== null && (row.api_key_id === actor.apiKeyId || actor.scopes.includes('*'))) return row
  throw notFound(`Your key has no pay request ${id} (GET /v2/pay-requests, \`svc pay list\`)`)
}
