/** Mounts the routes of collections, one line per verb. */
import { collections } from '../../src/api/collections.ts'
import { createCollection, getCollection, transferCollectionAuthority } from '../../src/operations/collections.ts'
import type { Mount } from '../mount.ts'

export function collectionsRoutes(mount: Mount): void {
  mount(collections.create, createCollection)
  mount(collections.transferAuthority, transferCollectionAuthority)
  mount(collections.get, getCollection)
}
