/** Mounts the routes of the custodial signer, one line per verb. */
import { signer } from '../../src/api/signer.ts'
import { pauseSigner, resumeSigner } from '../../src/operations/signer/pause-signer.ts'
import { readSigner } from '../../src/operations/signer/read-signer.ts'
import { resetSpend } from '../../src/operations/signer/reset-spend.ts'
import { testSigner } from '../../src/operations/signer/test-signer.ts'
import { updateSignerPolicy } from '../../src/operations/signer/update-policy.ts'
import type { Mount } from '../mount.ts'

export function signerRoutes(mount: Mount): void {
  mount(signer.get, readSigner)
  mount(signer.updatePolicy, updateSignerPolicy)
  mount(signer.pause, pauseSigner)
  mount(signer.resume, resumeSigner)
  mount(signer.reset, resetSpend)
  mount(signer.test, testSigner)
}
