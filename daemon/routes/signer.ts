/** Mounts the routes of the custodial signer, one line per verb. */
import { api } from '../../src/api/index.ts'
import { pauseSigner, resumeSigner } from '../../src/operations/signer/pause-signer.ts'
import { readSigner } from '../../src/operations/signer/read-signer.ts'
import { resetSpend } from '../../src/operations/signer/reset-spend.ts'
import { testSigner } from '../../src/operations/signer/test-signer.ts'
import { updateSignerPolicy } from '../../src/operations/signer/update-policy.ts'
import type { Mount } from '../mount.ts'

export function signerRoutes(mount: Mount): void {
  mount(api.signer.get, readSigner)
  mount(api.signer.updatePolicy, updateSignerPolicy)
  mount(api.signer.pause, pauseSigner)
  mount(api.signer.resume, resumeSigner)
  mount(api.signer.reset, resetSpend)
  mount(api.signer.test, testSigner)
}
