/** Computes how long a transaction can still be sent: until its last block height, at the measured slot time. */
import type { ClusterState } from '../../src/api/service.ts'
import type { Session } from '../cli/session.ts'
import { counted } from '../ui/words.ts'

/**
 * The chain's height and slot time. Null if the API cannot tell, such as an older one, because a text for the user
 * must not make a command fail.
 */
export function clusterState({ client }: Session, blockhash?: string): Promise<ClusterState | null> {
  return client.service.cluster(blockhash === undefined ? {} : { blockhash }).then(
    ({ data }) => data,
    () => null,
  )
}

/** `until block height 123, for about 38 seconds`; null if the build has no height. */
export function lifetimeText(lastValid: number | undefined, state: ClusterState | null): string | null {
  if (lastValid === undefined) return null
  const until = `until block height ${lastValid}`
  if (state === null) return until
  const blocks = lastValid - state.block_height
  if (blocks < 0) return `${until}, which is past`
  if (state.slot_ms === null) return `${until}, for ${blocks} more blocks`
  return `${until}, for about ${counted(secondsOf(blocks, state.slot_ms), 'second')}`
}

/** The fewest seconds that this many blocks take. Skipped slots add time and no height. */
export const secondsOf = (blocks: number, slotMs: number): number => Math.round((blocks * slotMs) / 1000)

/** What a printed build says about its time, so that a machine without a node can show it. */
export interface PrintedLifetime {
  /** Until when it can be sent, at least, in ISO 8601 by the clock of the machine that built it. */
  expires_at?: string
  /** The chain of its blockhash. */
  genesis_hash?: string
}

/** The time is left out if the last block or the time of a slot is not known. */
export function printedLifetime(
  lastValid: number | undefined,
  state: ClusterState | null,
  now: number,
): PrintedLifetime {
  if (lastValid === undefined || state === null) return {}
  const { block_height, slot_ms, genesis_hash } = state
  const end = new Date(slot_ms === null ? Number.NaN : now + Math.max(0, lastValid - block_height) * slot_ms)
  // An API may answer any number.
  return Number.isNaN(end.getTime()) ? { genesis_hash } : { expires_at: end.toISOString(), genesis_hash }
}

/** Seconds until a build expires, below zero once it has; undefined if it is not known. */
export const secondsLeft = (expiresAt: string | undefined, now: number): number | undefined =>
  expiresAt === undefined ? undefined : Math.floor((Date.parse(expiresAt) - now) / 1000)

/** `for about 28 more seconds`, or `expired about 4 seconds ago`. */
export const secondsLeftText = (seconds: number): string =>
  seconds > 0 ? `for about ${counted(seconds, 'more second')}` : `expired about ${counted(-seconds, 'second')} ago`
