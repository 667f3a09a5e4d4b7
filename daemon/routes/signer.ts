/** Mounts the routes of the custodial signer, one line per verb. */
import { signer } from '../../src/api/signer.ts'
import {
  pauseSigner,
  readSigner,
  resetSpend,
  resumeSigner,
  testSigner,
  updateSignerPolicy,
} from '../../src/operations/signer.ts'
import type { Mount } from '../mount.ts'

export function signerRoutes(mount: Mount): void {
  mount(signer.get, readSigner)
  mount(signer.updatePolicy, updateSignerPolicy)
  mount(signer.pause, pauseSigner)
  mount(signer.resume, resumeSigner)
  mount(signer.reset, resetSpend)
  mount(signer.test, testSigner)
}
