/** Names of the addresses of a proposal, as its text shows them beside the addresses. */
import type { AddressNames } from '../solana/described-instructions.ts'
import type { Proposal } from './proposals.ts'

/** `payer` pays the fee of what it executes: the vault, or the platform wallet. */
export function proposalNames(approver: Proposal['approver'], payer: string): AddressNames {
  if (approver.kind === 'rule') {
    return new Map([
      ...approver.approvers.map(({ address, name }) => [address, `approver ${name}`] as const),
      [payer, 'the platform wallet'],
    ])
  }
  return new Map([
    ...approver.members.map(({ address }) => [address, 'member'] as const),
    [approver.multisig, 'this multisig'],
    [approver.vault, 'this vault'],
  ])
}
