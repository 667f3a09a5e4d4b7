/** Stake program (solana-stake-interface), whose instructions may be in what others ask to sign. */
import { STAKE_PROGRAM } from '../program-ids.ts'
import { programTable } from './table.ts'

const LOCKUP = 'unix_timestamp:?i64 epoch:?u64 custodian:?pubkey'
const WHICH = 'stake_authorize:u32'
const SEED = 'authority_seed:string64 authority_owner:pubkey'
const MOVE = 'stake:w destination_stake:w authority:s'

export const STAKE = programTable(STAKE_PROGRAM, {
  instructions: {
    initialize: [
      '00000000',
      'stake:w rent_sysvar',
      'staker:pubkey withdrawer:pubkey unix_timestamp:i64 epoch:u64 custodian:pubkey',
    ],
    authorize: ['01000000', 'stake:w clock_sysvar authority:s custodian:so', `new_authority:pubkey ${WHICH}`],
    delegate_stake: ['02000000', 'stake:w vote clock_sysvar stake_history config authority:s', ''],
    split: ['03000000', 'stake:w new_stake:w authority:s', 'lamports:u64'],
    withdraw: ['04000000', 'stake:w recipient:w clock_sysvar stake_history authority:s custodian:so', 'lamports:u64'],
    deactivate: ['05000000', 'stake:w clock_sysvar authority:s', ''],
    set_lockup: ['06000000', 'stake:w authority:s', LOCKUP],
    merge: ['07000000', 'stake:w source_stake:w clock_sysvar stake_history authority:s', ''],
    authorize_with_seed: [
      '08000000',
      'stake:w authority_base:s clock_sysvar custodian:so',
      `new_authority:pubkey ${WHICH} ${SEED}`,
    ],
    initialize_checked: ['09000000', 'stake:w rent_sysvar staker withdrawer:s', ''],
    authorize_checked: ['0a000000', 'stake:w clock_sysvar authority:s new_authority:s custodian:so', WHICH],
    authorize_checked_with_seed: [
      '0b000000',
      'stake:w authority_base:s clock_sysvar new_authority:s custodian:so',
      `${WHICH} ${SEED}`,
    ],
    set_lockup_checked: ['0c000000', 'stake:w authority:s custodian:so', 'unix_timestamp:?i64 epoch:?u64'],
    move_stake: ['10000000', MOVE, 'lamports:u64'],
    move_lamports: ['11000000', MOVE, 'lamports:u64'],
  },
})
