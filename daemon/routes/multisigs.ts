/** Mounts the routes of multisigs. */
import { multisigs } from '../../src/api/multisigs.ts'
import { createMultisig, getMultisig } from '../../src/operations/multisigs.ts'
import type { Mount } from '../mount.ts'

export function multisigsRoutes(mount: Mount): void {
  mount(multisigs.create, createMultisig)
  mount(multisigs.get, getMultisig)
}
