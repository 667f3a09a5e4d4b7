/** What the steps about a proposal of a multisig may call: one instruction of Squads, about exactly this proposal. */
import { PROGRAMS } from '../../src/solana/programs.ts'
import { transactionBufferAddress } from '../../src/solana/squads/addresses.ts'
import { SQUADS_CALLS } from '../../src/solana/squads/calls.ts'
import { anyValue, type Call, demanding } from './demand.ts'

export type ProposalStep = 'approve' | 'reject' | 'cancel' | 'execute' | 'reclaim'

/** Addresses that are derived here from the multisig and the number of the proposal. */
export interface AskedStep {
  multisig: string
  proposal: string
  transaction: string
  /** Of an execution: the accounts of the plan, in its order. */
  accounts: readonly (string | readonly string[])[]
  /** Of a reclaim: whether the accounts of the proposal are closed, and the numbers of the own buffers that are. */
  reclaims?: { isClosed: boolean; buffers: readonly number[] }
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
    'the closing of exactly this proposal, whose rent Squads pays to the rent collector of the multisig alone, and of your own buffers',
    ({ payer }, { multisig, proposal, transaction, reclaims }: AskedStep): Call[] => [
      ...(reclaims?.isClosed === false
        ? []
        : [
            {
              program: PROGRAMS.squads.id,
              call: 'vault_transaction_accounts_close',
              fields: { multisig, proposal, transaction, rent_collector: anyValue },
              data: DATA.reclaim,
            },
          ]),
      ...(reclaims?.buffers ?? []).map((index) => ({
        program: PROGRAMS.squads.id,
        call: 'transaction_buffer_close',
        fields: {
          multisig,
          transaction_buffer: transactionBufferAddress(multisig, payer, index),
          creator: payer,
        },
        data: SQUADS_CALLS.bufferClose,
      })),
    ],
  ),
}
