/** Members of a multisig with their rights, as the API answers them. */
import type { SquadsApprover } from '../../api/index.ts'
import type { SquadsMember } from '../../solana/squads/index.ts'

export const memberRecords = (members: readonly SquadsMember[]): SquadsApprover['members'] =>
  members.map(({ address, initiate, vote, execute }) => ({ address, propose: initiate, vote, execute }))
