/** Topics of WebSocket subscriptions, and their notifications for a landed transaction. */

import type { ChainAccount } from '../solana/accounts.ts'
import type { Commitment } from '../solana/constants.ts'
import type { TransactionErrorJson } from '../solana/execution.ts'
import { toJson } from '../solana/json.ts'
import { SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import { type AccountView, type AddressedAccount, encodeAccount, viewOf } from './rpc/account-encoding.ts'
import { invalidParams, RpcError } from './rpc/errors.ts'
import { type AccountFilters, matchesFilters, readFilters } from './rpc/filters.ts'
import { asBoolean, asConfig, asList, asPubkey, asSignature, requireParams } from './rpc/params.ts'
import type { LandedTransaction, LocalChain } from './types.ts'

/** Sends a text to the client. */
export type SendNotification = (text: string) => void

export interface LandedUpdate {
  transaction: LandedTransaction
  changed: ReadonlyMap<string, ChainAccount | null>
}

export type Topic =
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

export interface TopicSubscription {
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
export const TOPICS: Readonly<Record<string, (chain: LocalChain, params: readonly unknown[]) => Topic>> = {
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

export function notify({ id, send, topic }: TopicSubscription, result: unknown): void {
  send(toJson({ jsonrpc: '2.0', method: `${topic.kind}Notification`, params: { result, subscription: id } }))
}

export const inContext = (slot: number, value: unknown) => ({ context: { slot }, value })

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
export function notifyTopic(
  chain: LocalChain,
  subscription: TopicSubscription,
  { transaction, changed }: LandedUpdate,
): void {
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
