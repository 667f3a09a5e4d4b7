/** Checks whether a URL may receive webhooks: https to a public host, unless private receivers are allowed for development. */

import { badRequest } from '../../platform/errors.ts'
import { rejectLate } from '../../platform/timing.ts'
import { parseUrl } from '../../platform/urls.ts'
import type { Config } from '../../settings/config.ts'
import type { Resolve } from './receiver-address.ts'

export interface ReceiverChecks {
  config: Config
  /** Resolver of names. The default is the name servers. */
  resolve?: Resolve
  /** Longest wait for the resolver in milliseconds. */
  resolveTimeoutMs?: number
}

const RECEIVER_HINT =
  'use a public https receiver, or for development allow all: `svc config set webhooks.allow-private true`, then `svc config reload`'

/** Returns the policy for receivers from the settings. */
const receiverPolicy = ({ values }: Config) => ({
  allowPrivate: values['webhooks.allow-private'],
  ports: values['webhooks.ports'],
})

/**
 * Throws bad_request with `param: url`. Checks every address that the name resolves to; each connection does so again.
 * If private receivers are allowed nothing is resolved, because no address would be refused.
 */
export async function checkReceiver(checks: ReceiverChecks, text: string): Promise<void> {
  // Imported here because the module loads ipaddr.js, which other commands do not need.
  const { receiverAddresses, hostOf, ReceiverRefused, resolverFor, urlRefusal } = await import('./receiver-address.ts')
  const { config, resolveTimeoutMs = 5_000 } = checks
  const refuse = (why: string) => badRequest(`url: ${why}`, { param: 'url' })
  const url = parseUrl(text)
  if (url === undefined) throw refuse('is not a URL; send one like https://example.com/hooks')
  const policy = receiverPolicy(config)
  const refusal = urlRefusal(url, policy)
  if (refusal !== null) throw refuse(/public host|https/.test(refusal) ? `${refusal}; ${RECEIVER_HINT}` : refusal)
  if (policy.allowPrivate) return
  const resolve = checks.resolve ?? resolverFor(false)
  try {
    await receiverAddresses(hostOf(url), false, (name) =>
      rejectLate(resolveTimeoutMs, resolve(name), () => new Error('late')),
    )
  } catch (error) {
    if (!(error instanceof ReceiverRefused)) throw error
    throw refuse(
      `${error.message}; ${error.message.includes('public host') ? RECEIVER_HINT : 'check the name and try again'}`,
    )
  }
}
