/** Checks the Ledger that the setting `keypair` names: its packages, its state, and the address of its key. */
import type { Config } from '../../../src/settings/config.ts'
import type { DoctorCheck } from '../../cli/session.ts'
import { Problem } from '../../ui/problem.ts'
import { isDeviceUrl } from '../../wallet/names.ts'
import { failedCheck, passedCheck, warningCheck } from './checks.ts'

const CHECK = 'ledger'

/** One check if the setting names a Ledger. One that is not ready is a warning, because only signing needs it. */
export async function ledgerChecks({ values: { keypair } }: Config): Promise<DoctorCheck[]> {
  if (keypair === undefined || !isDeviceUrl(keypair)) return []
  const { ledgerSigner } = await import('../wallets/ledger/signer.ts')
  try {
    const { address } = await ledgerSigner(keypair, () => undefined)
    return [passedCheck(CHECK, `${keypair} has the address ${address}`)]
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const check = error.code === 'bad_request' ? failedCheck : warningCheck
    return [check(CHECK, error.message, error.next ?? 'run this again')]
  }
}
