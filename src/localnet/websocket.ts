/** Subscriptions of JSON-RPC's WebSocket side: landed transactions are notified at each commitment that they reach. */

import type { ChainAccount } from '../solana/accounts.ts'
import type { Commitment } from '../solana/constants.ts'
import type { TransactionErrorJson } from '../solana/execution.ts'
import { parseJson, toJson } from '../solana/json.ts'
import { SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import { type AccountView, type AddressedAccount, encodeAccount, viewOf } from './rpc/account-encoding.ts'
import { CODE, invalidParams, RpcError } from './rpc/errors.ts'
import { type AccountFilters, matchesFilters, readFilters } from './rpc/filters.ts'
import { errorObject, jsonRpcId, type RpcRequest, readRequest } from './rpc/index.ts'
import {
  asBoolean,
  asConfig,
  asInteger,
  asList,
  asPubkey,
  asSignature,
  commitmentOf,
  requireParams,
} from './rpc/params.ts'
import type { LandedTransaction, LocalChain } from './types.ts'

/** Interval of slot checks while there are subscriptions, in milliseconds; half a slot of mainnet. */
const TICK_MS = 100
const MAX_SUBSCRIPTIONS = 10_000
/** Maximum number of slots that are notified individually after a jump of the clock. */
const MAX_NOTIFIED_SLOTS = 32
/** Maximum number of landed transactions that are kept until they are final. */
const MAX_LANDED = 20_000
/** The commitments that a transaction reaches once its slot is over. */
const LATER_LEVELS = ['confirmed', 'finalized'] as const satisfies readonly Commitment[]

/** Topics about what a landed transaction did; signatures and slots are read from the chain. */
const OF_LANDED: ReadonlySet<Topic['kind']> = new Set(['account', 'program', 'logs'])

interface SubscriptionConnection {
  /** Handles one message of the client. */
  receive(text: string): void
  close(): void
}

interface SubscriptionsOptions {
  /** Receives errors that are not caused by the client. */
  onError?: (error: unknown, method: string) => void
}

export interface Subscriptions {
  connect(send: SendNotification): SubscriptionConnection
  /** Sends the notifications that are due now, instead of at the next tick. */
  flush(): void
  close(): void
}

/** Serves subscriptions on a chain; its timer runs only while there are any. */
export function createSubscriptions(chain: LocalChain, { onError }: SubscriptionsOptions = {}): Subscriptions {
  const subscriptions = new Map<number, TopicSubscription>()
  /** Landed transactions that are not final, oldest first; also without subscriptions, as one may begin before then. */
  let landed: LandedUpdate[] = []
  /** The newest slot that subscribers of each commitment were notified of. */
  const notified = { confirmed: chain.slot('confirmed'), finalized: chain.slot('finalized') }
  let lastId = 0
  let slot = chain.slot()
  let timer: NodeJS.Timeout | undefined

  const listeners = (commitment: Commitment) =>
    [...subscriptions.values()].filter((one) => one.commitment === commitment && OF_LANDED.has(one.topic.kind))

  function remove(id: number): boolean {
    subscriptions.get(id)?.siblings.delete(id)
    const removed = subscriptions.delete(id)
    if (subscriptions.size > 0) return removed
    clearInterval(timer)
    timer = undefined
    return removed
  }

  function add(subscription: TopicSubscription): void {
    // It hears of what reaches its commitment from now on.
    for (const level of LATER_LEVELS) notifyLanded(level)
    subscriptions.set(subscription.id, subscription)
    if (timer) return
    slot = chain.slot()
    timer = setInterval(() => safely(tick), TICK_MS)
    timer.unref()
  }

  /** Notifies a signature once, at its commitment, and ends its subscription. */
  function notifySignature(subscription: TopicSubscription): void {
    const { topic } = subscription
    if (topic.kind !== 'signature' || !topic.landed) return
    if (topic.received) {
      topic.received = false
      notify(subscription, inContext(topic.landed.slot, 'receivedSignature'))
    }
    if (topic.landed.slot > chain.slot(subscription.commitment)) return
    notify(subscription, inContext(topic.landed.slot, { err: topic.landed.err }))
    remove(subscription.id)
  }

  function notifyLanded(commitment: (typeof LATER_LEVELS)[number]): void {
    const [before, reached] = [notified[commitment], chain.slot(commitment)]
    notified[commitment] = reached
    const waiting = listeners(commitment)
    if (waiting.length === 0) return
    for (const update of landed) {
      const { slot: landedIn } = update.transaction
      if (landedIn <= before || landedIn > reached) continue
      for (const subscription of waiting) notifyTopic(chain, subscription, update)
    }
  }

  /** Drops what is final and was notified; without subscriptions, whatever is final. */
  function dropFinal(): void {
    const final = subscriptions.size === 0 ? chain.slot('finalized') : notified.finalized
    const [oldest] = landed
    if (oldest !== undefined && oldest.transaction.slot <= final) {
      landed = landed.filter(({ transaction }) => transaction.slot > final)
    }
    if (landed.length > MAX_LANDED) landed = landed.slice(-MAX_LANDED / 2)
  }

  function notifySlots(): void {
    const now = chain.slot()
    if (now === slot) return
    const root = chain.slot('finalized')
    for (let at = Math.max(slot + 1, now - MAX_NOTIFIED_SLOTS + 1); at <= now; at++) {
      for (const subscription of subscriptions.values()) {
        const { kind } = subscription.topic
        if (kind === 'slot') notify(subscription, { slot: at, parent: at - 1, root: root - (now - at) })
        else if (kind === 'root') notify(subscription, root - (now - at))
      }
    }
    slot = now
  }

  /** Reports errors of notifications without throwing, because the chain calls this after a transaction has landed. */
  function safely(work: () => void): void {
    try {
      work()
    } catch (error) {
      onError?.(error, 'notification')
    }
  }

  function tick(): void {
    notifySlots()
    for (const level of LATER_LEVELS) notifyLanded(level)
    for (const subscription of [...subscriptions.values()]) notifySignature(subscription)
    dropFinal()
  }

  function onLanded(transaction: LandedTransaction, changed: LandedUpdate['changed']): void {
    const update = { transaction, changed }
    landed.push(update)
    dropFinal()
    for (const subscription of listeners('processed')) notifyTopic(chain, subscription, update)
    for (const subscription of [...subscriptions.values()]) {
      const { topic } = subscription
      if (topic.kind !== 'signature' || topic.signature !== transaction.signature) continue
      topic.landed = { slot: transaction.slot, err: transaction.err }
      notifySignature(subscription)
    }
  }

  const unsubscribe = chain.subscribe({
    landed: (transaction, changed) => safely(() => onLanded(transaction, changed)),
  })

  return {
    connect(send) {
      const own = new Set<number>()

      function subscribe(topic: Topic, config: Record<string, unknown>): TopicSubscription {
        if (own.size >= MAX_SUBSCRIPTIONS) {
          throw new RpcError(CODE.internal, 'Internal Error: Subscription refused. Node subscription limit reached')
        }
        const commitment = commitmentOf(config)
        const subscription = { id: ++lastId, send, siblings: own, commitment, topic }
        own.add(subscription.id)
        add(subscription)
        return subscription
      }

      function call({ id, method, params }: RpcRequest): void {
        const topicOf = Object.hasOwn(TOPICS, method) ? TOPICS[method] : undefined
        if (topicOf !== undefined) {
          const subscription = subscribe(topicOf(chain, params), asConfig(params[1]))
          send(toJson({ jsonrpc: '2.0', result: subscription.id, id }))
          notifySignature(subscription)
          return
        }
        const topic = method.endsWith('Unsubscribe') ? method.replace(/Unsubscribe$/, 'Subscribe') : ''
        if (!Object.hasOwn(TOPICS, topic)) throw new RpcError(CODE.methodNotFound, 'Method not found')
        requireParams(params, 1)
        const subscribed = asInteger(params[0])
        if (!own.has(subscribed)) throw invalidParams('Invalid subscription id.')
        remove(subscribed)
        send(toJson({ jsonrpc: '2.0', result: true, id }))
      }

      function answer(value: unknown): void {
        try {
          const request = readRequest(value)
          if (request) call(request)
        } catch (error) {
          if (!(error instanceof RpcError)) onError?.(error, 'subscription')
          const known = error instanceof RpcError ? error : new RpcError(CODE.internal, 'Internal error')
          send(errorObject(jsonRpcId(value), known))
        }
      }

      return {
        receive(text) {
          let value: unknown
          try {
            value = parseJson(text)
          } catch {
            return send(errorObject(null, new RpcError(CODE.parse, 'Parse error')))
          }
          for (const one of Array.isArray(value) ? value : [value]) answer(one)
        },
        close() {
          for (const id of [...own]) remove(id)
        },
      }
    },
    flush() {
      if (subscriptions.size > 0) safely(tick)
    },
    close() {
      unsubscribe()
      subscriptions.clear()
      clearInterval(timer)
      timer = undefined
    },
  }
}

/** Sends a text to the client. */
type SendNotification = (text: string) => void

interface LandedUpdate {
  transaction: LandedTransaction
  changed: ReadonlyMap<string, ChainAccount | null>
}

type Topic =
  | { kind: 'slot' | 'root' }
  | {
      kind: 'signature'
      signature: string
      received: boolean
      landed: { slot: number; err: TransactionErrorJson | null } | null
    }
  | { kind: 'account'; address: string; view: AccountView }
  | { kind: 'program'; program: string; filters: AccountFilters; view: AccountView }
  | { kind: 'logs'; mentions: string | null }

interface TopicSubscription {
  id: number
  send: SendNotification
  /** Ids of all subscriptions of the same connection. */
  siblings: Set<number>
  commitment: Commitment
  topic: Topic
}

const DELETED: ChainAccount = { lamports: 0n, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }

function readLogsFilter(value: unknown): string | null {
  if (value === 'all' || value === 'allWithVotes') return null
  const mentions = asList(asConfig(value).mentions)
  if (mentions.length !== 1) throw invalidParams('Invalid Request: Only 1 address supported')
  return asPubkey(mentions[0])
}

/** Topics by subscription method, with the parser of their params. */
const TOPICS: Readonly<Record<string, (chain: LocalChain, params: readonly unknown[]) => Topic>> = {
  slotSubscribe: () => ({ kind: 'slot' }),
  rootSubscribe: () => ({ kind: 'root' }),
  signatureSubscribe(chain, params) {
    requireParams(params, 1)
    const signature = asSignature(params[0])
    const received = asBoolean(asConfig(params[1]).enableReceivedNotification)
    return { kind: 'signature', signature, received, landed: chain.transaction(signature) }
  },
  accountSubscribe(_, params) {
    requireParams(params, 1)
    return { kind: 'account', address: asPubkey(params[0]), view: viewOf(asConfig(params[1])) }
  },
  programSubscribe(_, params) {
    requireParams(params, 1)
    const config = asConfig(params[1])
    return { kind: 'program', program: asPubkey(params[0]), filters: readFilters(config.filters), view: viewOf(config) }
  },
  logsSubscribe(_, params) {
    requireParams(params, 1)
    return { kind: 'logs', mentions: readLogsFilter(params[0]) }
  },
}

function notify({ id, send, topic }: TopicSubscription, result: unknown): void {
  send(toJson({ jsonrpc: '2.0', method: `${topic.kind}Notification`, params: { result, subscription: id } }))
}

const inContext = (slot: number, value: unknown) => ({ context: { slot }, value })

/**
 * Encodes an account for a notification. For data too long for base58, a validator sends an error text in its place.
 */
function encodeForNotice(chain: LocalChain, account: AddressedAccount, view: AccountView) {
  try {
    return encodeAccount(chain, account, view)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const encoded = encodeAccount(chain, account, { ...view, slice: { offset: 0, length: 0 } })
    return { ...encoded, data: 'error: data too large for bs58 encoding' }
  }
}

/** Notifies one subscription of a landed transaction if it matches its topic. */
function notifyTopic(chain: LocalChain, subscription: TopicSubscription, { transaction, changed }: LandedUpdate): void {
  const { topic } = subscription
  const { slot, signature, err, logs } = transaction
  if (topic.kind === 'logs') {
    if (topic.mentions !== null && !transaction.accountKeys.includes(topic.mentions)) return
    notify(subscription, inContext(slot, { signature, err, logs }))
  } else if (topic.kind === 'account' && changed.has(topic.address)) {
    const account = changed.get(topic.address) ?? DELETED
    notify(subscription, inContext(slot, encodeForNotice(chain, [topic.address, account], topic.view)))
  } else if (topic.kind === 'program') {
    for (const [pubkey, account] of changed) {
      if (account?.owner !== topic.program || !matchesFilters(account, topic.filters)) continue
      notify(subscription, inContext(slot, { pubkey, account: encodeForNotice(chain, [pubkey, account], topic.view) }))
    }
  }
}
