/** Pages of a wallet's positions, which are read from the chain whole, the largest first. */
import { decodeTextCursor, encodeTextCursor, type PageRequest } from '../../store/queries/paging.ts'

interface Sized {
  position: string
  liquidity: bigint
}

/** Sorts the largest first, and those of one size by their address. */
export function bySize(a: Sized, b: Sized): number {
  if (a.liquidity !== b.liquidity) return a.liquidity < b.liquidity ? 1 : -1
  return a.position === b.position ? 0 : a.position < b.position ? -1 : 1
}

interface PositionPage<P> {
  shown: P[]
  /** Number of positions on later pages. */
  remaining: number
  next_cursor: string | null
}

/** One page of positions that `bySize` has sorted; cursors are bound to `list`, and throw bad_request if damaged. */
export function positionPage<P extends Sized>(
  list: string,
  positions: readonly P[],
  { limit, cursor }: PageRequest,
): PositionPage<P> {
  const after = cursor === undefined ? null : placeIn(list, cursor)
  const rest = after === null ? positions : positions.filter((each) => bySize(after, each) < 0)
  const shown = rest.slice(0, limit)
  const [remaining, last] = [rest.length - shown.length, shown.at(-1)]
  const isLast = remaining === 0 || last === undefined
  return {
    shown,
    remaining,
    next_cursor: isLast ? null : encodeTextCursor(list, `${last.liquidity} ${last.position}`),
  }
}

function placeIn(list: string, cursor: string): Sized {
  const [liquidity = '', position = ''] = decodeTextCursor(list, cursor).split(' ')
  return { liquidity: BigInt(liquidity), position }
}
