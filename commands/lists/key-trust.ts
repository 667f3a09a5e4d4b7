/** Lets the platform wallet sign again under a key only while the API is sure to return what it signed under it. */
import { MINUTE_MS } from '../../src/platform/timing.ts'
import type { ApiCaller } from '../cli/session.ts'
import { timeText } from '../ui/times.ts'
import type { RequestedSending } from './attempt.ts'
import type { SignedEnd } from './until-ended.ts'

/** A request to the platform wallet, with who asked which API: a key is valid only for the same caller. */
export interface CallerRequest extends RequestedSending {
  caller?: ApiCaller
}

/** Half of the shortest time for which an API can be set to keep its idempotency keys (`idempotency-hours`). */
const KEY_TRUST_MS = 30 * MINUTE_MS

/** Why asking again could sign a second time, and what to do instead. */
export class UntrustedKey extends Error {}

/** Throws UntrustedKey if the API may have forgotten the key, or if another caller used it; `anew` is the way out. */
export function requireTrusted(
  request: CallerRequest,
  { caller, now, anew }: { caller: ApiCaller; now: number; anew: string },
): void {
  const age = now - request.at
  const other = otherCaller(request, caller)
  // A request dated in the future came from another clock, so its age is not known.
  if (other === null && age >= 0 && age <= KEY_TRUST_MS) return
  throw untrusted(request, other ?? 'longer ago than an API is sure to remember', anew)
}

/** Throws UntrustedKey for a request that has ended without success, if another API may still send what it signed. */
export function requireSameCaller(
  request: CallerRequest,
  { caller, end, anew }: { caller: ApiCaller; end: SignedEnd['kind'] | undefined; anew: string },
): void {
  const other = end === undefined || end === 'confirmed' ? null : otherCaller(request, caller)
  if (other !== null) throw untrusted(request, other, anew)
}

/** Names the other caller; null if it was the present one. */
function otherCaller({ caller }: CallerRequest, { api, key }: ApiCaller): string | null {
  if (caller === undefined) return 'by a caller that the journal does not name'
  if (caller.api !== api) return `at ${caller.api}, which is not ${api}`
  return caller.key === key ? null : 'with another API key'
}

const untrusted = ({ key, at, signature }: CallerRequest, why: string, anew: string): UntrustedKey =>
  new UntrustedKey(
    `the platform wallet was asked under the idempotency key ${key} on ${timeText(at)}, ${why}; it is not asked again, ` +
      `because that could do it twice. ${signature === null ? 'Find its signature, if it signed, in `svc audit list` of that API, and what' : 'What'} ` +
      `became of it by \`svc tx get ${signature ?? 'SIGNATURE'}\` or in an explorer; ${anew}`,
  )
