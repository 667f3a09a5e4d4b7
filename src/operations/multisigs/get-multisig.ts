/** Reads a multisig of Squads v4 from the chain, by its address or by that of a vault that is known here. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readMultisig } from '../../chain/programs/squads/index.ts'
import type { Context } from '../../context.ts'
import { vaultAddress } from '../../solana/squads/index.ts'
import { knownVaultOr } from './known-vault.ts'
import { memberRecords } from './member-records.ts'

type GetMultisigRoute = Api['multisigs']['get']

export async function getMultisig(
  context: Context,
  { address }: Input<GetMultisigRoute>,
): Promise<Result<GetMultisigRoute>> {
  const { chain } = context
  let vaultIndex: number | undefined
  const found = await readMultisig(chain, address, 'address').catch(async (fault: unknown) => {
    const known = await knownVaultOr(context, { address, param: 'address' }, fault)
    vaultIndex = known.vaultIndex
    return readMultisig(chain, known.multisig, 'address')
  })
  return {
    address: found.address,
    vault: vaultAddress(found.address, vaultIndex ?? 0),
    ...(vaultIndex === undefined ? {} : { vault_index: vaultIndex }),
    threshold: found.threshold,
    time_lock: found.timeLock,
    members: memberRecords(found.members),
    transaction_index: String(found.transactionIndex),
    stale_transaction_index: String(found.staleTransactionIndex),
    config_authority: found.configAuthority,
    rent_collector: found.rentCollector,
  }
}
