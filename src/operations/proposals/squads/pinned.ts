/** The place of a stored plan on the chain, and what its execution runs. */
import type { Executed } from '../../../chain/programs/squads/index.ts'
import { unpackMessage } from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'

/** The place of a proposal on the chain. Throws for a proposal of a rule. */
export function placeOf({ id, multisig, transaction_index: index }: Row<'proposals'>): {
  multisig: string
  index: bigint
} {
  if (multisig === null || index === null) throw new Error(`the proposal ${id} has no multisig`)
  return { multisig, index: BigInt(index) }
}

/** What the execution of a stored plan runs. */
export function executedOf(row: Row<'proposals'>): Executed {
  const { id, vault_index: vaultIndex, ephemeral_signers: ephemeralSigners, stored_message: stored } = row
  if (vaultIndex === null || stored === null) throw new Error(`the proposal ${id} has no message`)
  return { ...placeOf(row), vaultIndex, ephemeralSigners: ephemeralSigners ?? 0, message: unpackMessage(stored) }
}
