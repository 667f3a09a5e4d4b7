/** Mounts the routes of positions, one line per verb. */
import { poolPositions } from '../../src/api/pool-positions.ts'
import { addLiquidity } from '../../src/operations/positions/add-liquidity.ts'
import { closePosition } from '../../src/operations/positions/close-position.ts'
import { listPositions } from '../../src/operations/positions/list-positions.ts'
import { lockPosition } from '../../src/operations/positions/lock-position.ts'
import { openPosition } from '../../src/operations/positions/open-position.ts'
import { removeLiquidity } from '../../src/operations/positions/remove-liquidity.ts'
import { vestPosition } from '../../src/operations/positions/vest-position.ts'
import type { Mount } from '../mount.ts'

export function positionsRoutes(mount: Mount): void {
  mount(poolPositions.list, listPositions)
  mount(poolPositions.open, openPosition)
  mount(poolPositions.add, addLiquidity)
  mount(poolPositions.remove, removeLiquidity)
  mount(poolPositions.lock, lockPosition)
  mount(poolPositions.vest, vestPosition)
  mount(poolPositions.close, closePosition)
}
