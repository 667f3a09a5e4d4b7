/** Tells how long a transaction can still be sent: until its last block height, at the measured slot time. */
import type { ClusterState } from '../../src/api/service.ts'
import type { Session } from '../cli/session.ts'

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
  return `${until}, for about ${secondsOf(blocks, state.slot_ms)} seconds`
}

/** The least seconds that so many blocks take. Skipped slots add no height, and only add time. */
export const secondsOf = (blocks: number, slotMs: number): number => Math.round((blocks * slotMs) / 1000)
