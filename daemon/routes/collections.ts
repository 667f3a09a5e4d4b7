/** Mounts the routes of collections, one line per verb. */
import { collections } from '../../src/api/collections.ts'
import { createCollection } from '../../src/operations/collections/create-collection.ts'
import { getCollection } from '../../src/operations/collections/get-collection.ts'
import { transferCollectionAuthority } from '../../src/operations/collections/transfer-authority.ts'
import type { Mount } from '../mount.ts'

export function collectionsRoutes(mount: Mount): void {
  mount(collections.create, createCollection)
  mount(collections.transferAuthority, transferCollectionAuthority)
  mount(collections.get, getCollection)
}
