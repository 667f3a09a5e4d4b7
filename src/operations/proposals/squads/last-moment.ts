/** Finds until when a proposal can be executed: an airdrop can be created only before its start. */
import { creationStartOf } from '../../../chain/programs/merkle-distributor/index.ts'
import { isoTime, SECOND_MS } from '../../../platform/timing.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import type { Row } from '../../../store/schema.ts'

/** Greatest Unix seconds that a date has; a creation may have any number. */
const MOST_SECONDS = 8_640_000_000_000n

/** `addresses` are the accounts of the message. Returns Unix milliseconds, or null if the act can be executed at any time. */
export function lastMomentOf(
  { instructions }: Pick<DecodedMessage, 'instructions'>,
  addresses: readonly string[],
): number | null {
  const starts = instructions.flatMap(({ programIdIndex, data }) => {
    const start = creationStartOf(addresses[programIdIndex], data)
    return start === null || start < 0n || start > MOST_SECONDS ? [] : [Number(start) * SECOND_MS]
  })
  return starts.length === 0 ? null : Math.min(...starts)
}

/** Says that the last moment has passed by the chain's clock; null if it has not. */
export function overdueFault({ expires_at }: Pick<Row<'proposals'>, 'expires_at'>, chainNow: number): string | null {
  if (expires_at === null || expires_at > chainNow) return null
  return `The start of its airdrop, ${isoTime(expires_at)}, has passed, and an airdrop can be created only before it.`
}
