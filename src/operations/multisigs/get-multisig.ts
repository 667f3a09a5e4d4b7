/** Reads a multisig of Squads v4 from the chain. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readMultisig } from '../../chain/programs/squads/index.ts'
import type { Context } from '../../context.ts'
import { vaultAddress } from '../../solana/squads/index.ts'
import { memberRecords } from './member-records.ts'

type GetMultisigRoute = Api['multisigs']['get']

export async function getMultisig(
  { chain }: Context,
  { address }: Input<GetMultisigRoute>,
): Promise<Result<GetMultisigRoute>> {
  const found = await readMultisig(chain, address, 'address')
  return {
    address,
    vault: vaultAddress(address, 0),
    threshold: found.threshold,
    time_lock: found.timeLock,
    members: memberRecords(found.members),
    transaction_index: String(found.transactionIndex),
    stale_transaction_index: String(found.staleTransactionIndex),
    config_authority: found.configAuthority,
    rent_collector: found.rentCollector,
  }
}
