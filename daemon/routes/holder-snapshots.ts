/** Mounts the routes of holder snapshots, one line per verb. */
import { holderSnapshots } from '../../src/api/holder-snapshots.ts'
import { createHolderSnapshot } from '../../src/operations/holder-snapshots/create-holder-snapshot.ts'
import { getHolderPiece } from '../../src/operations/holder-snapshots/get-holder-piece.ts'
import { getHolderSnapshot } from '../../src/operations/holder-snapshots/get-holder-snapshot.ts'
import { listHolderSnapshots } from '../../src/operations/holder-snapshots/list-holder-snapshots.ts'
import { listHolders } from '../../src/operations/holder-snapshots/list-holders.ts'
import type { Mount } from '../mount.ts'

export function holderSnapshotsRoutes(mount: Mount): void {
  mount(holderSnapshots.create, createHolderSnapshot)
  mount.stored(holderSnapshots.list, listHolderSnapshots)
  mount.stored(holderSnapshots.get, getHolderSnapshot)
  mount(holderSnapshots.holders, listHolders)
  mount(holderSnapshots.piece, getHolderPiece)
}
