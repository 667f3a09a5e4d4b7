/** Mounts the routes of holder snapshots, one line per verb. */
import { holderSnapshots } from '../../src/api/holder-snapshots.ts'
import {
  createHolderSnapshot,
  getHolderPiece,
  getHolderSnapshot,
  listHolderSnapshots,
  listHolders,
} from '../../src/operations/holder-snapshots.ts'
import type { Mount } from '../mount.ts'

export function holderSnapshotsRoutes(mount: Mount): void {
  mount(holderSnapshots.create, createHolderSnapshot)
  mount.stored(holderSnapshots.list, listHolderSnapshots)
  mount.stored(holderSnapshots.get, getHolderSnapshot)
  mount(holderSnapshots.holders, listHolders)
  mount(holderSnapshots.piece, getHolderPiece)
}
