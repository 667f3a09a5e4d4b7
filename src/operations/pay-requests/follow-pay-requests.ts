/** Finds the payments of pay requests on chain, which wallets send themselves, and stores them as submitted. */
import { executedOf, listSignatures, readAnswer, UnreadableTransaction } from '../../chain/reads/history.ts'
import type { Services } from '../../context.ts'
import { type Follower, follow } from '../../following/follower.ts'
import { FIRST_SEND_MS } from '../../following/send.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../solana/messages.ts'
import {
  duePayRequests,
  findPayRequest,
  isAnyPayRequestDue,
  lockPayRequest,
  type PayRequestRow,
  updatePayRequest,
} from '../../store/resources/pay-requests.ts'
import { onCommit } from '../../store/writing/work.ts'
import { fromJson, fromJsonOrNull } from '../api-records.ts'
import { storeSubmitted } from '../transactions/store-submitted.ts'
import { paidBuild, type RecentBuild } from './payments.ts'

/** Longest time between the fetch of a transaction and its landing: a wallet sets the blockhash when it signs. */
const LIVE_MS = 10 * MINUTE_MS
/** Pauses between looks: short while a person is looking at the wallet, longer after it. */
const EAGER_MS = 2 * MINUTE_MS
const EAGER_PAUSE_MS = 2 * SECOND_MS
const LATER_PAUSE_MS = 15 * SECOND_MS
export const LONGEST_PAY_WAIT_MS = LATER_PAUSE_MS
/** Requests that one round looks for, and transactions that one look reads; anybody can send some with the reference. */
const REQUESTS_PER_ROUND = 50
const READ_PER_LOOK = 25
/** Times that a node is asked to send a payment again, if its block was dropped. */
const MAX_RETRIES = 3

type PayServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'wake'>

/** Looks for the payments that are due. Throws as `follow` does. */
export const followPayRequests = (services: PayServices, signal?: AbortSignal): Promise<void> =>
  followRequests(services, () => dueRequests(services), signal)

async function dueRequests({ store, chain, clock }: PayServices): Promise<PayRequestRow[]> {
  if (!(await isAnyPayRequestDue(store.db, clock.now()))) return []
  return duePayRequests(store.db, await chain.genesisHash(), clock.now(), REQUESTS_PER_ROUND)
}

/** Looks once, and returns the row afterwards. Throws internal_error when the node fails. */
export async function lookForPayment(services: PayServices, row: PayRequestRow): Promise<PayRequestRow> {
  await followRequests(services, async () => [row])
  return (await findPayRequest(services.store.db, row.id)) ?? row
}

function followRequests(
  services: PayServices,
  due: () => Promise<PayRequestRow[]>,
  signal?: AbortSignal,
): Promise<void> {
  const { clock, wake } = services
  const requests: Follower<PayRequestRow, Payments, Payments> = {
    named: ({ id }) => ({ pay_request: id }),
    due,
    // Each has a history of its own, so that its failure is its own.
    perRead: 1,
    read: (rows) => Promise.all(rows.map((row) => readPayments(services, row).catch((error: Error) => error))),
    decide: (_, payments) => payments,
    async write(tx, { id }, { found, seen }) {
      const own = await lockPayRequest(tx, id)
      if (own === null) return []
      const now = clock.now()
      const recent = fromJson<RecentBuild[]>(own.recent_builds_json)
      let paid: Pick<PayRequestRow, 'state' | 'signature' | 'tracked_resource_json'> | undefined
      for (const { transaction, keys } of found) {
        const build = paidBuild(recent, { ...transaction.message, keys })
        if (build === undefined) continue
        const { tracked_resource } = build
        const options = { max_retries: MAX_RETRIES, ...(tracked_resource === null ? {} : { tracked_resource }) }
        const plan = { genesis: own.genesis, next_send_at: now + FIRST_SEND_MS }
        const about = {
          clock,
          externalUid: own.external_uid ?? undefined,
          metadata: fromJsonOrNull<Record<string, string>>(own.metadata_json) ?? undefined,
        }
        if (await storeSubmitted(about, tx, transaction, options, plan)) onCommit(() => wake('transaction-watcher'))
        const tracked_resource_json = tracked_resource === null ? null : JSON.stringify(tracked_resource)
        paid ??= { state: 'paid', signature: transaction.signature, tracked_resource_json }
      }
      const builds = recentBuilds(own, now)
      await updatePayRequest(tx, id, {
        ...(own.signature === null ? paid : {}),
        seen_signature: seen,
        recent_builds_json: JSON.stringify(builds),
        next_look_at: nextLook(builds, now),
      })
      return []
    },
    postpone: (tx, { id }, next_look_at) => updatePayRequest(tx, id, { next_look_at }),
    postponedMs: LATER_PAUSE_MS,
  }
  return follow(services, requests, signal)
}

export const recentBuilds = ({ recent_builds_json }: PayRequestRow, now: number): RecentBuild[] =>
  fromJson<RecentBuild[]>(recent_builds_json).filter(({ built_at }) => built_at > now - LIVE_MS)

/** What landed with the reference of a request since the last look. */
interface Payments {
  found: Payment[]
  /** The last signature that was looked at. */
  seen: string | null
}

async function readPayments(services: PayServices, row: PayRequestRow): Promise<Payments> {
  const until = row.seen_signature ?? undefined
  const listed = (await listSignatures(services.chain, row.reference, { until })).reverse().slice(0, READ_PER_LOOK)
  const found: Payment[] = []
  let seen = row.seen_signature
  for (const { signature, isFailed } of listed) {
    if (!isFailed) {
      const payment = await readLanded(services, signature)
      // The node lists it and does not have it yet.
      if (payment === null) break
      if (payment !== undefined) found.push(payment)
    }
    seen = signature
  }
  return { found, seen }
}

/** Null once no transaction can land any more. */
export function nextLook(builds: readonly RecentBuild[], now: number): number | null {
  const last = builds.at(-1)
  if (last === undefined) return null
  return now + (now - last.built_at < EAGER_MS ? EAGER_PAUSE_MS : LATER_PAUSE_MS)
}

interface Payment {
  transaction: DecodedTransaction
  /** The accounts of its message with those of its lookup tables. */
  keys: string[]
}

/** Null if the node does not have it yet; undefined if it cannot be read, so it does not count as a payment. */
async function readLanded({ chain, log }: PayServices, signature: string): Promise<Payment | null | undefined> {
  try {
    return await readAnswer(chain, signature, 'confirmed', (answer) => {
      const { message, isFailed } = executedOf(answer, signature)
      if (isFailed) throw new Error('it failed')
      const [text = ''] = (answer as { transaction: [string] }).transaction
      return { transaction: decodeWireTransaction(Buffer.from(text, 'base64')), keys: [...message.keys] }
    })
  } catch (error) {
    if (!(error instanceof UnreadableTransaction)) throw error
    log.debug({ err: error, signature }, 'a transaction with the reference of a pay request cannot be read')
    return undefined
  }
}
