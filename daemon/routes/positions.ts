/** Mounts the routes of positions, one line per verb. */
import { poolPositions } from '../../src/api/pool-positions.ts'
import { listPositions } from '../../src/operations/positions/list-positions.ts'
import { lockPosition } from '../../src/operations/positions/lock-position.ts'
import { removeLiquidity } from '../../src/operations/positions/remove-liquidity.ts'
import type { Mount } from '../mount.ts'

export function positionsRoutes(mount: Mount): void {
  mount(poolPositions.list, listPositions)
  mount(poolPositions.remove, removeLiquidity)
  mount(poolPositions.lock, lockPosition)
}
