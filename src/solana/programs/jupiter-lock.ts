/** Jupiter Lock (jup-ag/jup-lock): locks of any mint. Amounts are raw units, times Unix seconds. */

import type { ChainAccount } from '../accounts.ts'
import { MEMO_PROGRAM, SYSTEM_PROGRAM } from '../program-ids.ts'
import { DBC_POOL_AUTHORITY, PROGRAMS } from '../programs.ts'
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

type EscrowFields = Fields<typeof ESCROW>

/** What a creation writes into the account of a lock: our word for each field, and that of the program. */
const TERMS = {
  startTime: 'vesting_start_time',
  cliffTime: 'cliff_time',
  frequency: 'frequency',
  cliffAmount: 'cliff_unlock_amount',
  amountPerPeriod: 'amount_per_period',
  periods: 'number_of_period',
  updateRecipientMode: 'update_recipient_mode',
  cancelMode: 'cancel_mode',
} as const
type Terms = typeof TERMS
export type LockTerms = { [Name in keyof Terms]: EscrowFields[Terms[Name]] }
type WrittenTerms = { [Name in keyof Terms as Terms[Name]]: EscrowFields[Terms[Name]] }

/** The terms in the words of the program. */
export const writtenTerms = (terms: LockTerms): WrittenTerms =>
  Object.fromEntries(namesOfTerms.map((name) => [TERMS[name], terms[name]])) as WrittenTerms
/** The terms in an account of the program, or in its instruction. */
export const readTerms = (fields: WrittenTerms): LockTerms =>
  Object.fromEntries(namesOfTerms.map((name) => [name, fields[TERMS[name]]])) as LockTerms
const namesOfTerms = Object.keys(TERMS) as (keyof Terms)[]

/** Who may do something to a lock, by the numbers of the program: 1 for the creator, 2 for the recipient, or their sum. */
export const LOCK_PARTIES = ['none', 'creator', 'recipient', 'both'] as const
export type LockParty = (typeof LOCK_PARTIES)[number]
export const partyOf = (mode: number): LockParty => LOCK_PARTIES[mode & 3] ?? 'none'

/** The modes of a lock that is asked for. */
export const lockModes = (asked: { cancellable_by: LockParty; recipient_changeable_by: LockParty }) => ({
  updateRecipientMode: LOCK_PARTIES.indexOf(asked.recipient_changeable_by),
  cancelMode: LOCK_PARTIES.indexOf(asked.cancellable_by),
})

/** The texts that a creator wrote about a lock, as they are on chain. */
export interface LockTexts {
  title: string
  description: string
}

/** The texts of a lock that is asked for; undefined without any. */
export const lockTexts = ({ title, description }: { [Text in keyof LockTexts]?: string | undefined }) =>
  title === undefined && description === undefined ? undefined : { title: title ?? '', description: description ?? '' }

/** The payouts of a lock, and who gets or may change them. */
export interface LockedTerms extends LockTerms {
  mint: string
  base: string
  creator: string
  recipient: string
}

export interface Escrow extends LockedTerms {
  address: string
  tokenProgram: 'spl' | 'token2022'
  /** Raw units paid out so far. A cancellation does not count what it pays. */
  claimed: bigint
  /** Time of cancellation in Unix seconds; 0 means never. */
  cancelledAt: bigint
}

/**
 * Returns null for an address without a lock: one without an account, with only lamports, or with another kind of
 * account.
 */
export function decodeEscrow(address: string, account: Pick<ChainAccount, 'owner' | 'data'> | null): Escrow | null {
  const fields = JUPITER_LOCK.decode('escrow', account)
  if (fields === null) return null
  const { recipient, token_mint: mint, creator, base } = fields
  return {
    address,
    recipient,
    mint,
    creator,
    base,
    ...readTerms(fields),
    tokenProgram: fields.token_program_flag === 0 ? 'spl' : 'token2022',
    claimed: fields.total_claimed_amount,
    cancelledAt: fields.cancelled_at,
  }
}

/** Value of the two modes with which the creator alone may cancel, or name another recipient; 3 is both parties. */
const BY_CREATOR = 1

/** Launch curves make their locks cancellable by their own program, which has no instruction for it. */
export const canBeCancelled = ({ cancelMode, creator }: Pick<Escrow, 'cancelMode' | 'creator'>): boolean =>
  cancelMode !== 0 && !(cancelMode === BY_CREATOR && creator === DBC_POOL_AUTHORITY)

/** Whether the creator may name another recipient. */
export const canBeRedirected = ({ updateRecipientMode, creator }: Pick<Escrow, 'updateRecipientMode' | 'creator'>) =>
  (updateRecipientMode & BY_CREATOR) !== 0 && creator !== DBC_POOL_AUTHORITY
