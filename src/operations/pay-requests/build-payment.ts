/** Builds the transaction of a pay request for the wallet that fetches it. */
import { validateInput } from '../../api/input-validation.ts'
import { type PayableName, payableRouteOf } from '../../api/payable-routes.ts'
import type { TrackedResource } from '../../api/payloads.ts'
import type { AnyRoute } from '../../api/route.ts'
import { cosignedBy } from '../../chain/sending/cosign.ts'
import type { Context } from '../../context.ts'
import { ApiError, badRequest, notFound } from '../../platform/errors.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import type { GuardMode } from '../../solana/constants.ts'
import { plainText } from '../../solana/decision-texts.ts'
import { legacyOf } from '../../solana/legacy-messages.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../solana/messages.ts'
import { isSignedAt, missingSigners } from '../../solana/signatures.ts'
import { findApiKey } from '../../store/requests/api-keys.ts'
import { lockPayRequest, type PayRequestRow, updatePayRequest } from '../../store/resources/pay-requests.ts'
import { keyFault } from '../api-keys.ts'
import { fromJson, fromJsonOrNull } from '../api-records.ts'
import { type Noun, REGISTRY, type Verb } from '../registry.ts'
import { openGeneratedKeys } from '../transactions/generated-keys.ts'
import { lookForPayment, nextLook, recentBuilds } from './follow-pay-requests.ts'
import { callsIn, type RecentBuild, stateAt } from './payments.ts'

/** While one wallet has fetched a transaction, no other gets one for this time. */
const HOLD_MS = MINUTE_MS
/** Transactions of one request, in all and within `LIVE_MS`; each costs the node some calls. */
const MOST_BUILDS = 200
const MOST_RECENT_BUILDS = 20

export interface Payment {
  /** Base64 of a legacy transaction, which every wallet reads, or of version 0 if the platform wallet has signed it. */
  transaction: string
  /** What it does. */
  message: string
  /** The other fields of the answer of its route, without keys. */
  build: Record<string, unknown>
}

/**
 * Builds it and stores what makes its payment recognizable. Throws bad_request for a request that has ended or is for
 * another wallet, rate_limited if another wallet has just fetched it, and the errors of the operation.
 */
export async function buildPayment(context: Context, found: PayRequestRow, account: string): Promise<Payment> {
  const row = await lookedFor(context, found)
  await hold(context, row.id, account)
  try {
    const { payment, recent } = await build(context, row, account)
    await remember(context, row.id, recent)
    return payment
  } catch (error) {
    await release(context, row.id, account).catch((err) => context.log.warn({ err }, 'a pay request stays held'))
    throw error
  }
}

/** Builds the same for the key that made the request: it holds nothing, and is not counted. */
export async function previewPayment(context: Context, found: PayRequestRow, account: string): Promise<Payment> {
  const row = await lookedFor(context, found)
  requireOpen(row, account, context.clock.now())
  const { payment, recent } = await build(context, row, account)
  await remember(context, row.id, recent)
  return payment
}

/** A payment is found before a wallet gets another transaction. Throws for a request of another chain. */
async function lookedFor(context: Context, row: PayRequestRow): Promise<PayRequestRow> {
  if ((await context.chain.genesisHash()) !== row.genesis) {
    throw badRequest('This was made for another cluster: ask for a new QR code')
  }
  return recentBuilds(row, context.clock.now()).length === 0 ? row : lookForPayment(context, row)
}

/** Throws unless the request is open, and for this wallet. */
function requireOpen(row: PayRequestRow, account: string, now: number): void {
  const state = stateAt(row, now)
  if (state !== 'open') throw badRequest(ENDED[state], { details: { state } })
  if (row.account !== null && row.account !== account) {
    throw badRequest(`This is for the wallet ${row.account}, and yours is ${account}: choose that one in your wallet`, {
      param: 'account',
    })
  }
}

/** Throws while another wallet has the transaction, and if there were too many. */
function requireFree(row: PayRequestRow, account: string, now: number): void {
  if (row.held_by !== null && row.held_by !== account && row.held_until > now) {
    const wait = Math.ceil((row.held_until - now) / SECOND_MS)
    throw new ApiError('rate_limited', `Another wallet has just opened this: try again in ${wait} seconds`, {
      retryAfter: wait,
    })
  }
  if (row.builds >= MOST_BUILDS) throw badRequest(`It was opened ${MOST_BUILDS} times: ask for a new QR code`)
  if (recentBuilds(row, now).length >= MOST_RECENT_BUILDS) {
    throw new ApiError('rate_limited', 'It was opened too often within minutes: try again in a minute', {
      retryAfter: MINUTE_MS / SECOND_MS,
    })
  }
}

const ENDED = {
  paid: 'This is paid already: nothing is left to sign',
  expired: 'This has expired: ask for a new QR code',
  revoked: 'This was revoked: ask for a new QR code',
} as const

/** Two wallets that ask at once are served one after the other. */
async function hold({ store, clock }: Context, id: string, account: string): Promise<void> {
  await store.write(async (tx) => {
    const row = await lockPayRequest(tx, id)
    if (row === null) throw unknownPayRequest()
    const key = await findApiKey(tx, row.api_key_id)
    const now = clock.now()
    const isRevoked = key === null || keyFault(key, now) !== null
    requireOpen(isRevoked && row.state === 'open' ? { ...row, state: 'revoked' } : row, account, now)
    requireFree(row, account, now)
    await updatePayRequest(tx, id, { held_by: account, held_until: now + HOLD_MS, builds: row.builds + 1 })
  })
}

export const unknownPayRequest = () => notFound('This QR code is not known here: ask for a new one')

async function release({ store }: Context, id: string, account: string): Promise<void> {
  await store.write(async (tx) => {
    const row = await lockPayRequest(tx, id)
    if (row?.held_by === account) await updatePayRequest(tx, id, { held_by: null, held_until: 0 })
  })
}

async function remember({ store, clock }: Context, id: string, build: RecentBuild): Promise<void> {
  await store.write(async (tx) => {
    const row = await lockPayRequest(tx, id)
    if (row === null) throw unknownPayRequest()
    const recent = [...recentBuilds(row, clock.now()), build]
    const recent_builds_json = JSON.stringify(recent)
    await updatePayRequest(tx, id, { recent_builds_json, next_look_at: nextLook(recent, clock.now()) })
  })
}

async function build(context: Context, row: PayRequestRow, account: string) {
  const { method, path, body_json, api_key_id } = row
  const known = payableRouteOf(method, path)
  if (known === null) throw badRequest(`${method} ${path} no longer builds a transaction: ask for a new QR code`)
  const { name, account: field } = known.route
  const [route, operate] = await Promise.all([payableRoute(name), payableOperation(name)])
  const own = known.params[field] === undefined ? { [field]: account } : {}
  const body = fromJson<Record<string, unknown>>(body_json)
  const input = {
    ...(route.params ? validateInput(route.params, known.params) : {}),
    ...(route.body ? validateInput(route.body, { ...body, ...own }) : {}),
  } as Record<string, unknown>
  const metadata = fromJsonOrNull<Record<string, string>>(row.metadata_json)
  const answer = await operate(
    {
      ...context,
      actor: { apiKeyId: api_key_id, scopes: [] },
      externalUid: row.external_uid ?? undefined,
      metadata: metadata ?? undefined,
      txVersion: 0,
      guard: (input.guard as GuardMode | undefined) ?? context.guard,
      force: input.force === true,
      reference: row.reference,
      // The request of the wallet has no Idempotency-Key, and the operation may commit on its own.
      commit: (work) => context.store.write(work),
    },
    input,
  )
  const fields = answer as Record<string, unknown>
  const nested = fields.tx as Record<string, unknown> | undefined
  const { transaction: text, generated_keys } = (nested ?? fields) as Record<string, string | undefined>
  if (typeof text !== 'string') {
    throw badRequest('It takes several transactions, and a QR code gives one: build it without a QR code')
  }
  const transaction = forWallet(context, decodeWireTransaction(Buffer.from(text, 'base64')), generated_keys)
  requireAlone(transaction, account)
  const shown = Buffer.from(transaction.raw).toString('base64')
  const { required_signers: _, generated_keys: __, ...rest } = fields
  return {
    payment: {
      transaction: shown,
      message: messageOf(route.summary, fields),
      build: {
        ...rest,
        ...(nested === undefined ? { transaction: shown } : { tx: { ...nested, transaction: shown } }),
      },
    },
    recent: {
      account,
      calls: callsIn(transaction.message),
      tracked_resource: (fields.tracked_resource as TrackedResource | undefined) ?? null,
      built_at: context.clock.now(),
    },
  }
}

/**
 * Returns the transaction in the form that all wallets read, signed by the keys that the build generated. One with
 * another signature stays as it is, because its message may not change.
 */
function forWallet(
  { vault }: Context,
  transaction: DecodedTransaction,
  generatedKeys: string | undefined,
): DecodedTransaction {
  const keys = generatedKeys === undefined ? [] : openGeneratedKeys(vault, generatedKeys, [transaction])
  const cosigned = cosignedBy(transaction.raw, keys)
  const signed = decodeWireTransaction(cosigned.transaction)
  const { message } = signed
  const isOthers = (address: string, i: number) => isSignedAt(signed, i) && !cosigned.cosigners.includes(address)
  if (message.version !== 0 || message.keys.slice(0, message.signers).some(isOthers)) return signed
  return decodeWireTransaction(cosignedBy(legacyOf(transaction), keys).transaction)
}

/** Throws if another signature than that of the wallet is missing. */
function requireAlone(transaction: DecodedTransaction, account: string): void {
  const others = missingSigners(transaction).filter((address) => address !== account)
  if (others.length === 0) return
  throw badRequest(
    `${others.join(', ')} must sign this too, and a QR code asks one wallet: use \`svc tx sign\` (docs/wallets.md)`,
  )
}

/** What the wallet on a phone shows: for a step of a proposal, the whole sentence about the act that it decides about. */
function messageOf(summary: string, { proposal }: Record<string, unknown>): string {
  const what = (proposal as { what?: unknown } | undefined)?.what
  return typeof what === 'string' ? `${summary}: ${plainText(what)}` : summary
}

// The contract and the operations of the routes that a pay request may name.

async function verbOf(name: PayableName): Promise<Verb> {
  const [noun = '', verb = ''] = name.split('.')
  const found = (await REGISTRY[noun as Noun]()).find((each) => each.verb === verb)
  if (found === undefined) throw new Error(`the contract has no route ${name}`)
  return found
}

/** The route in the contract, with the schemas of its path and body. */
export const payableRoute = async (name: PayableName): Promise<AnyRoute> => (await verbOf(name)).route

/**
 * The operation that builds. Whoever has the link calls it, so it must only build: that of a rule's proposal decides at
 * once, and is refused.
 */
export async function payableOperation(name: PayableName): Promise<Verb['operation']> {
  const { operation } = await verbOf(name)
  if (!name.startsWith('proposals.')) return operation
  const { requireProposal } = await import('../proposals/proposal-record.ts')
  return async (context: Context, input: { id: string }) => {
    const { id, kind } = await requireProposal(context.store.db, input.id)
    if (kind === 'squads') return operation(context, input)
    throw badRequest(`${id} is a proposal of a rule, about which no transaction decides: svc proposals show ${id}`)
  }
}
