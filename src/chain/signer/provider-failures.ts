/** Describes a failed call of a provider in one sentence, with the place to check and without any secret. */

import type { ProviderCall } from './provider-requests.ts'
import type { RemoteProvider } from './remote-provider.ts'
import { SignerUnavailable } from './types.ts'

const MAYBE_SIGNED = '; a signature may exist there'

/** `what` follows the provider's name in the message. */
export const unavailable = (
  { label }: RemoteProvider,
  { signed }: Pick<ProviderCall, 'signed'>,
  what: string,
): SignerUnavailable => new SignerUnavailable(`${label} ${what}${signed === 'unknown' ? MAYBE_SIGNED : ''}`, signed)

/** The failure of a check. It cannot have signed a transaction. */
export const failedSignerCheck = (error: unknown): SignerUnavailable =>
  new SignerUnavailable((error as Error).message.replace(MAYBE_SIGNED, ''), 'no')

/** Describes the last request of a call. */
export function faultText(provider: RemoteProvider, { fault, signed, answer }: ProviderCall): string {
  const { where, onStatus, unusable } = provider
  switch (fault?.kind) {
    case 'refused':
      return `refuses connections: check that it runs, and check ${where}`
    case 'unknown host':
      return `has a host name that does not resolve: check ${where}`
    case 'certificate':
      return `shows a certificate that is not accepted: check ${where}, or name its CA in NODE_EXTRA_CA_CERTS`
    case 'unreachable':
      return `cannot be reached: check ${where} and the network between`
    case 'lost':
      return 'broke the connection before its answer was complete: try again'
    case 'status':
      return `answered HTTP ${fault.status}: ${statusAdvice(fault.status) ?? onStatus(fault.status)}`
  }
  if (signed === 'no') return `was not called: ${unusable}`
  const why = answer === undefined ? undefined : provider.explain?.(answer)
  return `answered with no signature that can be read${why === undefined ? '' : `: ${why}`}`
}

/** Returns advice on an HTTP status that has one meaning at every provider. */
function statusAdvice(status: number): string | undefined {
  if (status === 429) return 'it takes no more requests for now, try again later'
  if (status === 503) return 'it is not available for now, try again later'
  if (status >= 500) return 'it failed, see its own log'
  if (status < 400) return 'it redirects, and no token is sent to another address; set the final address'
  return undefined
}
