/** Jupiter Lock (jup-ag/jup-lock): locks of any mint. Amounts are raw units, times Unix seconds. */
import { MEMO_PROGRAM, SYSTEM_PROGRAM } from '../program-ids.ts'
import { PROGRAMS } from '../programs.ts'
import { type Fields, programTable } from './table.ts'

const END = 'event_authority program'
/** Accounts after the named ones, for transfer hooks. */
const OTHERS = 'remaining_accounts_info:?{slices:*{accounts_type:u8,length:u8}}'
const SCHEDULE = 'cliff_time:u64 frequency:u64 cliff_unlock_amount:u64 amount_per_period:u64 number_of_period:u64'
const ESCROW =
  `recipient:pubkey token_mint:pubkey creator:pubkey base:pubkey escrow_bump:u8 update_recipient_mode:u8 cancel_mode:u8 token_program_flag:u8 padding_0:hex4 ${SCHEDULE} total_claimed_amount:u64 vesting_start_time:u64 cancelled_at:u64` as const

/** Size in bytes of the account of a lock. */
export const ESCROW_BYTES = 296

export const JUPITER_LOCK = programTable(PROGRAMS.lock.id, {
  fixed: {
    event_authority: 'AqUDk3wybxjZujrNbKmjr2YTUZ8RA1a1nyGgs1zSmvTG',
    program: PROGRAMS.lock.id,
    system_program: SYSTEM_PROGRAM,
    memo_program: MEMO_PROGRAM,
  },
  instructions: {
    create_vesting_escrow_v2: [
      'b59b68b7b680232f',
      `base:sw escrow:w token_mint escrow_token:w sender:sw sender_token:w recipient token_program system_program ${END}`,
      `vesting_start_time:u64 ${SCHEDULE} update_recipient_mode:u8 cancel_mode:u8 ${OTHERS}`,
    ],
    create_vesting_escrow_metadata: [
      '5d4e2167ad7d4600',
      'escrow:w creator:sw escrow_metadata:w payer:sw system_program',
      'name:string description:string creator_email:string recipient_email:string',
    ],
    claim_v2: [
      'e5572ea2159de772',
      `escrow:w token_mint escrow_token:w recipient:sw recipient_token:w memo_program token_program ${END}`,
      `max_amount:u64 ${OTHERS}`,
    ],
    cancel_vesting_escrow: [
      'd9e90d038f6535c9',
      `escrow:w token_mint:w escrow_token:w creator_token:w recipient_token:w rent_receiver:w signer:sw memo_program token_program ${END}`,
      OTHERS,
    ],
    update_vesting_escrow_recipient: [
      '1af27fffed6d2fce',
      `escrow:w escrow_metadata signer:sw system_program ${END}`,
      'new_recipient:pubkey new_recipient_email:?string',
    ],
    close_vesting_escrow: [
      'ddb95f878843fc57',
      `escrow:w escrow_metadata:w token_mint:w escrow_token:w creator_token:w creator:sw token_program memo_program ${END}`,
      OTHERS,
    ],
    // The older claim, which other clients may still send.
    claim: [
      '3ec6d6c1d59f6cd2',
      'escrow:w escrow_token:w recipient:sw recipient_token:w token_program',
      'max_amount:u64',
    ],
  },
  accounts: {
    escrow: ['f477b704497487c3', ESCROW, ESCROW_BYTES],
    escrow_metadata: ['18cca668579e4c0d', 'escrow:pubkey name:string description:string', 48],
  },
  events: { claimed: ['ab9001bd78c8260b', 'amount:u64'] },
})

export type EscrowFields = Fields<typeof ESCROW>
