/** Tells how long a transaction can still be sent: until its last block height, at the slot time that was measured. */
import type { ClusterState } from '../../src/api/service.ts'
import type { Session } from '../cli/session.ts'

/**
 * The chain's height and slot time; null where the API cannot tell, as that of an earlier version, because a text for
 * the user must not fail a command.
 */
export function clusterState({ client }: Session, blockhash?: string): Promise<ClusterState | null> {
  return client.service.cluster(blockhash === undefined ? {} : { blockhash }).then(
    ({ data }) => data,
    () => null,
  )
}

/** `until block height 123, for about 38 seconds`; without the height of a build, nothing. */
export function lifetimeText(lastValid: number | undefined, state: ClusterState | null): string | null {
  if (lastValid === undefined) return null
  const until = `until block height ${lastValid}`
  if (state === null) return until
  const blocks = lastValid - state.block_height
  if (blocks < 0) return `${until}, which is past`
  if (state.slot_ms === null) return `${until}, for ${blocks} blocks more`
  return `${until}, for about ${secondsOf(blocks, state.slot_ms)} seconds`
}

/** Seconds that so many blocks take at least. Skipped slots add no height, and only prolong them. */
export const secondsOf = (blocks: number, slotMs: number): number => Math.round((blocks * slotMs) / 1000)
