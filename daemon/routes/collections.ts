/** Mounts the routes of collections, one line per verb. */
import { api } from '../../src/api/index.ts'
import { createCollection } from '../../src/operations/collections/create-collection.ts'
import { getCollection } from '../../src/operations/collections/get-collection.ts'
import type { Mount } from '../mount.ts'

export function collectionsRoutes(mount: Mount): void {
  mount(api.collections.create, createCollection)
  mount(api.collections.get, getCollection)
}
