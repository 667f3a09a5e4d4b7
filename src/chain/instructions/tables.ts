/** Layouts of the instructions of programs without an IDL in their SDK. */
import type { InstructionTable } from './layout.ts'

/** Stake program (solana-stake-interface). */
const LOCKUP = 'unix_timestamp:?i64 epoch:?u64 custodian:?pubkey'
const WHICH = 'stake_authorize:u32'
export const STAKE_INSTRUCTIONS: InstructionTable = {
  '00000000': [
    'initialize',
    'stake rent_sysvar',
    'staker:pubkey withdrawer:pubkey unix_timestamp:i64 epoch:u64 custodian:pubkey',
  ],
  '01000000': ['authorize', 'stake clock_sysvar authority custodian', `new_authority:pubkey ${WHICH}`],
  '02000000': ['delegate_stake', 'stake vote clock_sysvar stake_history config authority', ''],
  '03000000': ['split', 'stake new_stake authority', 'lamports:u64'],
  '04000000': ['withdraw', 'stake recipient clock_sysvar stake_history authority custodian', 'lamports:u64'],
  '05000000': ['deactivate', 'stake clock_sysvar authority', ''],
  '06000000': ['set_lockup', 'stake authority', LOCKUP],
  '07000000': ['merge', 'stake source_stake clock_sysvar stake_history authority', ''],
  '08000000': [
    'authorize_with_seed',
    'stake authority_base clock_sysvar custodian',
    `new_authority:pubkey ${WHICH} authority_seed:string64 authority_owner:pubkey`,
  ],
  '09000000': ['initialize_checked', 'stake rent_sysvar staker withdrawer', ''],
  '0a000000': ['authorize_checked', 'stake clock_sysvar authority new_authority custodian', WHICH],
  '0b000000': [
    'authorize_checked_with_seed',
    'stake authority_base clock_sysvar new_authority custodian',
    `${WHICH} authority_seed:string64 authority_owner:pubkey`,
  ],
  '0c000000': ['set_lockup_checked', 'stake authority custodian', 'unix_timestamp:?i64 epoch:?u64'],
  '10000000': ['move_stake', 'stake destination_stake authority', 'lamports:u64'],
  '11000000': ['move_lamports', 'stake destination_stake authority', 'lamports:u64'],
}

/** BPF upgradeable loader (solana-loader-v3-interface). */
export const LOADER_INSTRUCTIONS: InstructionTable = {
  '00000000': ['initialize_buffer', 'buffer authority', ''],
  '01000000': ['write', 'buffer authority', 'offset:u32 bytes:bytes64'],
  '02000000': [
    'deploy_with_max_data_len',
    'payer program_data program buffer rent_sysvar clock_sysvar system_program authority',
    'max_data_len:u64',
  ],
  '03000000': ['upgrade', 'program_data program buffer spill rent_sysvar clock_sysvar authority', ''],
  '04000000': ['set_authority', 'account authority new_authority', ''],
  '05000000': ['close', 'account recipient authority program', ''],
  '06000000': ['extend_program', 'program_data program system_program payer', 'additional_bytes:u32'],
  '07000000': ['set_authority_checked', 'account authority new_authority', ''],
}
