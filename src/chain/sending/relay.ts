/** Sends bundles to a Jito block engine by its URL, or to the relay inside the embedded chain. */
import { ApiError, badRequest, internal } from '../../platform/errors.ts'
import { whyUnanswered } from '../../platform/timing.ts'
import type { Config } from '../../settings/config.ts'
import { type Redactor, redactorOf } from '../../settings/redaction.ts'
import { TIP_ACCOUNTS } from '../../solana/bundles.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { isWritable } from '../../solana/messages.ts'
import type { Chain } from '../connection.ts'
import { callNode, NodeRefusal } from '../nodes/node-call.ts'
import { nodeLine } from '../nodes/node-line.ts'
import { createRetry, nodeTiming, type Retry } from '../nodes/retry.ts'
import { askNode, nodeReason } from '../nodes/rpc-faults.ts'

export interface Relay {
  /** Throws bad_request when the relay would refuse these transactions as a bundle. */
  check(transactions: readonly DecodedTransaction[]): void
  /**
   * Sends all of them or none. Sending the same bundle again is harmless. Throws internal_error, or `RelayRefusal` when
   * the relay refuses.
   */
  send(raws: readonly Uint8Array[]): Promise<void>
  /** Returns which of at most five bundles the relay reports as failed. Throws like `send`. */
  failed(bundleIds: readonly string[]): Promise<string[]>
}

/** The error of a relay that refuses a bundle. */
export class RelayRefusal extends ApiError {
  constructor(cause: NodeRefusal) {
    super('internal_error', `The relay refuses the bundle: ${nodeReason(cause)}`, { cause })
    this.name = 'RelayRefusal'
  }
}

const BUNDLES_PATH = '/api/v1/bundles'

/** Returns the configured relay. Throws internal_error on a cluster that has none. */
export function relayOf(config: Pick<Config, 'values'>, chain: Pick<Chain, 'cluster' | 'call' | 'ending'>): Relay {
  const url = config.values['relay-url']
  if (url === undefined && chain.cluster.kind !== 'embedded') {
    throw internal(
      `Bundles on ${chain.cluster.label} need a relay, and none is set: set relay-url to a Jito block engine`,
      { unset: 'relay-url' },
    )
  }
  const call = (method: string, params: readonly unknown[]) =>
    url === undefined
      ? chain.call(method, params)
      : callRelay(endpointAt(url, chain, redactorOf(config)), method, params)
  const send = async (raws: readonly Uint8Array[]) => {
    const params = [raws.map((raw) => Buffer.from(raw).toString('base64')), { encoding: 'base64' }]
    await askNode('Sending the bundle', () => call('sendBundle', params))
  }
  const failed = async (bundleIds: readonly string[]) => {
    const answer = await askNode('Asking for bundles', () => call('getInflightBundleStatuses', [bundleIds]))
    return failedIn(answer).filter((id) => bundleIds.includes(id))
  }
  return {
    check: (transactions) => {
      if (url !== undefined) requireTip(transactions)
    },
    send,
    failed,
  }
}

/** Only `Failed` is proof of failure, because the relay may merely have forgotten an `Invalid` bundle. */
function failedIn(answer: unknown): string[] {
  const { value } = (answer ?? {}) as { value?: unknown }
  if (!Array.isArray(value)) return []
  return value.flatMap((each: { bundle_id?: unknown; status?: unknown } | null) =>
    each?.status === 'Failed' && typeof each.bundle_id === 'string' ? [each.bundle_id] : [],
  )
}

/** A block engine silently drops bundles without a tip. */
function requireTip(transactions: readonly DecodedTransaction[]): void {
  const tips: readonly string[] = TIP_ACCOUNTS
  const tipped = transactions.some(({ message }) =>
    message.keys.some((key, i) => tips.includes(key) && isWritable(message, 0, i)),
  )
  if (tipped) return
  throw badRequest('The bundle pays no tip: one of its transactions must send lamports to a tip account of the relay', {
    param: 'signed_transactions',
    details: { tip_accounts: tips },
  })
}

interface RelayEndpoint {
  url: string
  redactor: Redactor
  retry: Retry
}

/** Endpoints by the chain of the bundles, so that all calls share a `Retry-After`. */
const relayEndpoints = new WeakMap<object, Map<string, RelayEndpoint>>()

function endpointAt(url: string, chain: Pick<Chain, 'cluster' | 'ending'>, redactor: Redactor): RelayEndpoint {
  const existing = relayEndpoints.get(chain.cluster) ?? new Map<string, RelayEndpoint>()
  relayEndpoints.set(chain.cluster, existing)
  const retry = () => createRetry('The relay', nodeTiming(chain))
  const endpoint = existing.get(url) ?? { url, redactor, retry: retry() }
  existing.set(url, endpoint)
  return endpoint
}

/** A block engine has a path for each method. The path for `sendBundle` has another name. */
function relayPath(url: string, method: string): string {
  const target = new URL(url)
  if (target.pathname === '/') target.pathname = BUNDLES_PATH
  if (method !== 'sendBundle') target.pathname = target.pathname.replace(/\/bundles$/, `/${method}`)
  return target.href
}

/** Errors never name the URL, because it may hold a key. */
async function callRelay(endpoint: RelayEndpoint, method: string, params: readonly unknown[]): Promise<unknown> {
  const line = nodeLine({ service: 'relay', url: relayPath(endpoint.url, method) }, endpoint.redactor)
  const post = async (body: string) => {
    try {
      return await endpoint.retry((signal) => line.post(body, signal))
    } catch (error) {
      if (error instanceof ApiError) throw error
      throw internal(`The relay cannot be reached (${whyUnanswered(error)})`)
    }
  }
  try {
    return await callNode(post, method, params)
  } catch (error) {
    if (error instanceof NodeRefusal) throw new RelayRefusal(error)
    throw error
  }
}
