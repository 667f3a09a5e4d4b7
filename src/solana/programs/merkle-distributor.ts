/** Jito's merkle distributor (jito-foundation/distributor): airdrops. Amounts are raw units, times Unix seconds. */
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../program-ids.ts'
import { PROGRAMS } from '../programs.ts'
import { programTable } from './table.ts'

const CLAIM = 'distributor:w claim_status:w from:w to:w claimant:sw token_program'

/** Size in bytes of the record that a wallet has claimed. */
export const CLAIM_STATUS_BYTES = 64

export const MERKLE_DISTRIBUTOR = programTable(PROGRAMS.distributor.id, {
  fixed: {
    system_program: SYSTEM_PROGRAM,
    token_program: TOKEN_PROGRAM,
    associated_token_program: ASSOCIATED_TOKEN_PROGRAM,
  },
  instructions: {
    new_distributor: [
      '208b70ab0002e19b',
      'distributor:w clawback_receiver:w mint token_vault:w admin:sw system_program associated_token_program token_program',
      'version:u64 root:hex32 max_total_claim:u64 max_num_nodes:u64 start_vesting_ts:i64 end_vesting_ts:i64 clawback_start_ts:i64',
    ],
    new_claim: ['4eb1627bd215bb53', `${CLAIM} system_program`, 'amount_unlocked:u64 amount_locked:u64 proof:*hex32'],
    claim_locked: ['22ceb5170bcf935a', CLAIM, ''],
    clawback: ['6f5c8e4f21ea521b', 'distributor:w from:w to:w claimant:s system_program token_program', ''],
    set_admin: ['fba300345bc2bb5c', 'distributor:w admin:sw new_admin:w', ''],
    set_clawback_receiver: ['99d92214131de54b', 'distributor:w new_clawback_account admin:sw', ''],
  },
  accounts: {
    merkle_distributor: [
      '4d778b4654f70c1a',
      'bump:u8 version:u64 root:hex32 mint:pubkey token_vault:pubkey max_total_claim:u64 max_num_nodes:u64 total_amount_claimed:u64 num_nodes_claimed:u64 start_ts:i64 end_ts:i64 clawback_start_ts:i64 clawback_receiver:pubkey admin:pubkey clawed_back:bool',
      234,
    ],
    claim_status: [
      '16b7f99df75f9660',
      'claimant:pubkey locked_amount:u64 locked_amount_withdrawn:u64 unlocked_amount:u64',
      CLAIM_STATUS_BYTES,
    ],
  },
})
