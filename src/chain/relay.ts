/** Where bundles go: a Jito block engine by its URL, or the relay inside the embedded chain. */
import type { Config } from '../config.ts'
import { ApiError, badRequest, internal } from '../errors.ts'
import { type Redactor, redactorOf } from '../redaction.ts'
import { TIP_ACCOUNTS } from './bundles.ts'
import type { Chain } from './connection.ts'
import type { DecodedTransaction } from './localnet/messages.ts'
import { isWritable } from './localnet/messages.ts'
import { callNode, cleaned, NodeRefusal } from './node-call.ts'
import { patiently } from './patient-fetch.ts'
import { withoutUser } from './program-cache/rpc.ts'
import { askNode, reasonOf } from './rpc-faults.ts'

export interface Relay {
  /** Throws bad_request where the relay would not take these transactions as a bundle. */
  check(transactions: readonly DecodedTransaction[]): void
  /** Sends them, all or none; sending the same again is harmless. Throws internal_error, `RelayRefusal` where the relay says no. */
  send(raws: readonly Uint8Array[]): Promise<void>
  /** Of at most five bundles, those that it has given up. Throws as `send` does. */
  failed(bundleIds: readonly string[]): Promise<string[]>
}

/** The relay answered that it does not take the bundle. */
export class RelayRefusal extends ApiError {
  constructor(cause: NodeRefusal) {
    super('internal_error', `The relay refuses the bundle: ${reasonOf(cause)}`, { cause })
    this.name = 'RelayRefusal'
  }
}

const RELAY_TIMEOUT_MS = 10_000
const BUNDLES_PATH = '/api/v1/bundles'

/** The configured relay; throws internal_error on a cluster that has none. */
export function relayOf(config: Pick<Config, 'values'>, chain: Pick<Chain, 'cluster' | 'call'>): Relay {
  const url = config.values['relay-url']
  if (url === undefined && chain.cluster.kind !== 'embedded') {
    throw internal(
      `Bundles on ${chain.cluster.label} need a relay, and none is set: set relay-url to a Jito block engine`,
      { unset: 'relay-url' },
    )
  }
  const call = (method: string, params: readonly unknown[]) =>
    url === undefined ? chain.call(method, params) : callRelay(url, method, params, redactorOf(config))
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

/** `Failed` alone says so: what is `Invalid` may only have been forgotten. */
function failedIn(answer: unknown): string[] {
  const { value } = (answer ?? {}) as { value?: unknown }
  if (!Array.isArray(value)) return []
  return value.flatMap((each: { bundle_id?: unknown; status?: unknown } | null) =>
    each?.status === 'Failed' && typeof each.bundle_id === 'string' ? [each.bundle_id] : [],
  )
}

/** A block engine drops what pays it nothing, without a word. */
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

/** The URL may hold a key: no error names it. */
async function callRelay(
  url: string,
  method: string,
  params: readonly unknown[],
  redactor: Redactor,
): Promise<unknown> {
  const { href, authorization } = withoutUser(url)
  const target = new URL(href)
  if (target.pathname === '/') target.pathname = BUNDLES_PATH
  // A block engine has a path for each method, and that of `sendBundle` is called otherwise.
  if (method !== 'sendBundle') target.pathname = target.pathname.replace(/\/bundles$/, `/${method}`)
  const reach: typeof fetch = async (input, init) => {
    try {
      const headers = { ...(init?.headers as Record<string, string>), ...authorization }
      const signal = AbortSignal.timeout(RELAY_TIMEOUT_MS)
      return await cleaned(await fetch(input, { ...init, headers, signal }), redactor)
    } catch (error) {
      throw internal('The relay cannot be reached', { cause: (error as Error).name })
    }
  }
  try {
    return await callNode(patiently(reach), target.href, method, params)
  } catch (error) {
    if (error instanceof NodeRefusal) throw new RelayRefusal(error)
    throw error
  }
}
