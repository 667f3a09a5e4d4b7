/** What the steps about a proposal of a multisig may call: one instruction of Squads, about exactly this proposal. */
import { hexOf } from '../../src/solana/bytes.ts'
import { SQUADS } from '../../src/solana/programs/squads.ts'
import { transactionBufferAddress } from '../../src/solana/squads/addresses.ts'
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

/** The whole data of each instruction, in hex: nothing beside its name, and no memo. */
const DATA: Record<ProposalStep | 'closeBuffer', string> = {
  approve: hexOf(SQUADS.data('proposal_approve', {})),
  reject: hexOf(SQUADS.data('proposal_reject', {})),
  cancel: hexOf(SQUADS.data('proposal_cancel_v2', {})),
  execute: hexOf(SQUADS.data('vault_transaction_execute', {})),
  reclaim: hexOf(SQUADS.data('vault_transaction_accounts_close', {})),
  closeBuffer: hexOf(SQUADS.data('transaction_buffer_close', {})),
}

const vote =
  (step: 'approve' | 'reject' | 'cancel', call: string) =>
  ({ payer }: { payer: string }, { multisig, proposal }: AskedStep): Call[] => [
    { program: SQUADS.id, call, fields: { multisig, proposal, member: payer }, data: DATA[step] },
  ]

export const demandsStep = {
  approve: demanding('one approval of exactly this proposal', vote('approve', 'proposal_approve')),
  reject: demanding('one rejection of exactly this proposal', vote('reject', 'proposal_reject')),
  cancel: demanding('one vote to cancel exactly this proposal', vote('cancel', 'proposal_cancel_v2')),
  execute: demanding(
    'the execution of exactly this proposal, with the accounts of the plan',
    ({ payer }, { multisig, proposal, transaction, accounts }: AskedStep) => [
      {
        program: SQUADS.id,
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
              program: SQUADS.id,
              call: 'vault_transaction_accounts_close',
              fields: { multisig, proposal, transaction, rent_collector: anyValue },
              data: DATA.reclaim,
            },
          ]),
      ...(reclaims?.buffers ?? []).map((index) => ({
        program: SQUADS.id,
        call: 'transaction_buffer_close',
        fields: {
          multisig,
          transaction_buffer: transactionBufferAddress(multisig, payer, index),
          creator: payer,
        },
        data: DATA.closeBuffer,
      })),
    ],
  ),
}
