/** What the steps about a proposal of a multisig may call: one instruction of Squads, about exactly this proposal. */
import { PROGRAMS } from '../../src/solana/programs.ts'
import { SQUADS_CALLS } from '../../src/solana/squads/calls.ts'
import { anyValue, type Call, demanding } from './demand.ts'

export type ProposalStep = 'approve' | 'reject' | 'cancel' | 'execute' | 'reclaim'

/** Addresses that are derived here from the multisig and the number of the proposal. */
export interface AskedStep {
  multisig: string
  proposal: string
  transaction: string
  /** Of an execution: the accounts of the plan, in its order. */
  accounts: readonly string[]
}

/** Byte of a memo that is left out. */
const NO_MEMO = '00'
/** The whole data of each instruction, in hex. */
const DATA: Record<ProposalStep, string> = {
  approve: `${SQUADS_CALLS.proposalApprove}${NO_MEMO}`,
  reject: `${SQUADS_CALLS.proposalReject}${NO_MEMO}`,
  cancel: `${SQUADS_CALLS.proposalCancel}${NO_MEMO}`,
  execute: SQUADS_CALLS.transactionExecute,
  reclaim: SQUADS_CALLS.transactionClose,
}

const vote =
  (step: 'approve' | 'reject' | 'cancel', call: string) =>
  ({ payer }: { payer: string }, { multisig, proposal }: AskedStep): Call[] => [
    { program: PROGRAMS.squads.id, call, fields: { multisig, proposal, member: payer }, data: DATA[step] },
  ]

export const demandsStep = {
  approve: demanding('one approval of exactly this proposal', vote('approve', 'proposal_approve')),
  reject: demanding('one rejection of exactly this proposal', vote('reject', 'proposal_reject')),
  cancel: demanding('one vote to cancel exactly this proposal', vote('cancel', 'proposal_cancel_v2')),
  execute: demanding(
    'the execution of exactly this proposal, with the accounts of the plan',
    ({ payer }, { multisig, proposal, transaction, accounts }: AskedStep) => [
      {
        program: PROGRAMS.squads.id,
        call: 'vault_transaction_execute',
        fields: { multisig, proposal, transaction, member: payer },
        data: DATA.execute,
        others: accounts,
      },
    ],
  ),
  reclaim: demanding(
    'the closing of exactly this proposal; Squads pays its rent to the rent collector of the multisig alone',
    (_, { multisig, proposal, transaction }: AskedStep) => [
      {
        program: PROGRAMS.squads.id,
        call: 'vault_transaction_accounts_close',
        fields: { multisig, proposal, transaction, rent_collector: anyValue },
        data: DATA.reclaim,
      },
    ],
  ),
}
