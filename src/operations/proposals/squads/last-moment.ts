/** Finds until when a proposal can be executed: an airdrop can be created only before its start. */
import { isoTime, SECOND_MS } from '../../../platform/timing.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { MERKLE_DISTRIBUTOR } from '../../../solana/programs/merkle-distributor.ts'
import type { Row } from '../../../store/schema.ts'

/** Greatest Unix seconds that a date has; a creation may have any number. */
const MOST_SECONDS = 8_640_000_000_000n

/** `addresses` are the accounts of the message. Returns Unix milliseconds, or null if the act can be executed at any time. */
export function lastMomentOf(
  { instructions }: Pick<DecodedMessage, 'instructions'>,
  addresses: readonly string[],
): number | null {
  const calls = MERKLE_DISTRIBUTOR.callsIn({ keys: addresses, instructions })
  const starts = calls.flatMap(({ name, args }) => {
    if (name !== 'new_distributor' || args === null) return []
    const { start_vesting_ts: start } = args
    return start < 0n || start > MOST_SECONDS ? [] : [Number(start) * SECOND_MS]
  })
  return starts.length === 0 ? null : Math.min(...starts)
}

/** Says that the last moment has passed by the chain's clock; null if it has not. */
export function overdueFault({ expires_at }: Pick<Row<'proposals'>, 'expires_at'>, chainNow: number): string | null {
  if (expires_at === null || expires_at > chainNow) return null
  return `The start of its airdrop, ${isoTime(expires_at)}, has passed, and an airdrop can be created only before it.`
}
