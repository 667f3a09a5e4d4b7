/**
 * A raise of Meteora Presale as its accounts say it; `raise-amounts.ts` has the arithmetic. Amounts are raw units, times
 * Unix seconds. Browsers load it, too.
 */
import type { ChainAccount } from './accounts.ts'
import { ByteReader } from './byte-reader.ts'
import { MOST_ROUNDS } from './constants.ts'
import { PRESALE } from './programs/presale.ts'

/** Words for the numbers of the program, which are the places in these lists. */
export const RAISE_MODES = ['fixed_price', 'pro_rata', 'first_come'] as const
export type RaiseMode = (typeof RAISE_MODES)[number]
/** Who may open an escrow: anyone, wallets with a proof, or wallets for which an operator of the creator signs. */
export const ALLOWLIST_KINDS = ['none', 'merkle', 'operator'] as const
type AllowlistKind = (typeof ALLOWLIST_KINDS)[number]
export const UNSOLD_ACTIONS = ['return', 'burn'] as const
export type UnsoldAction = (typeof UNSOLD_ACTIONS)[number]
const TOKEN_PROGRAMS = ['spl', 'token2022'] as const

export const RAISE_STATES = ['not_started', 'ongoing', 'completed', 'failed'] as const
export type RaiseState = (typeof RAISE_STATES)[number]

/**
 * A round is a registry of the program: tokens of its own, at a price of their own. At a fixed price rounds share their
 * tokens. Here rounds count from 0 as registries do; people count from 1.
 */
export interface RaiseRound {
  /** Tokens for sale. */
  supply: bigint
  /** Least and most that one buyer may have deposited, without fee. */
  buyerMin: bigint
  buyerMax: bigint
  /** Fee on top of each deposit, in hundredths of a percent of the sum. */
  feeBps: number
}

/** What has happened in a round, or in all. */
export interface Progress {
  /** Quote deposited, without fees. */
  deposited: bigint
  /** Fees paid, including those that refunds return. */
  fees: bigint
  escrows: bigint
  claimed: bigint
  refunded: bigint
}

/** A round on chain. */
export interface LiveRound extends RaiseRound, Progress {}

/** What the creation of a raise says. */
export interface RaiseTerms {
  mode: RaiseMode
  allowlist: AllowlistKind
  /** Most quote that the creator gets. */
  maximum: bigint
  /** Less than this in deposits, and the raise fails. */
  minimum: bigint
  startsAt: bigint
  endsAt: bigint
  unsold: UnsoldAction
  /** Whether the raise ends when the maximum is reached; pro rata never does. */
  earlyEnd: boolean
  /** Share released at `releaseAt`, in hundredths of a percent; the rest after the lock, and over the vesting. */
  releaseBps: number
  releaseAt: bigint
  lockSeconds: bigint
  vestingSeconds: bigint
  /** Quote units for a token unit, times 2^64; null unless the price is fixed. */
  price: bigint | null
  /** Whether buyers may withdraw deposits before the end. */
  withdrawable: boolean
  rounds: readonly RaiseRound[]
  /** Tokens of all rounds. */
  supply: bigint
}

/** Where a raise is, and what it sells for what. */
export interface RaiseAddresses {
  address: string
  /** The key that gave the raise its address. */
  base: string
  mint: string
  quoteMint: string
  baseVault: string
  quoteVault: string
  tokenProgram: 'spl' | 'token2022'
  quoteTokenProgram: 'spl' | 'token2022'
}

export interface Raise extends RaiseTerms, RaiseAddresses, Progress {
  /** Who gets what is raised; it can never be changed. */
  creator: string
  createdAt: bigint
  vestingStartsAt: bigint
  vestingEndsAt: bigint
  feesCollected: boolean
  creatorWithdrawn: boolean
  unsoldDone: boolean
  rounds: readonly LiveRound[]
}

/** The deposits of one wallet in one round. */
export interface RaiseEscrow {
  address: string
  raise: string
  owner: string
  /** From 0. */
  round: number
  /** Quote deposited, without fees. */
  deposited: bigint
  fees: bigint
  /** Most that the wallet may have deposited. */
  cap: bigint
  claimed: bigint
  /** Whether the refund was taken. */
  isRefunded: boolean
  createdAt: bigint
}

type Account = Pick<ChainAccount, 'owner' | 'data'>
const ROUND_BYTES = 160

/** Null for anything but a raise, and for one in words that svc does not know. */
export function decodeRaise(address: string, account: Account | null): Raise | null {
  const fields = PRESALE.decode('presale', account)
  if (fields === null) return null
  const mode = RAISE_MODES[fields.presale_mode]
  const allowlist = ALLOWLIST_KINDS[fields.whitelist_mode]
  const tokenProgram = TOKEN_PROGRAMS[fields.base_token_program_flag]
  const quoteTokenProgram = TOKEN_PROGRAMS[fields.quote_token_program_flag]
  if (mode === undefined || allowlist === undefined) return null
  if (tokenProgram === undefined || quoteTokenProgram === undefined) return null
  return {
    address,
    mode,
    allowlist,
    tokenProgram,
    quoteTokenProgram,
    creator: fields.owner,
    base: fields.base,
    mint: fields.base_mint,
    quoteMint: fields.quote_mint,
    baseVault: fields.base_token_vault,
    quoteVault: fields.quote_token_vault,
    maximum: fields.presale_maximum_cap,
    minimum: fields.presale_minimum_cap,
    startsAt: fields.presale_start_time,
    endsAt: fields.presale_end_time,
    supply: fields.presale_supply,
    deposited: fields.total_deposit,
    fees: fields.total_deposit_fee,
    escrows: fields.total_escrow,
    claimed: fields.total_claimed_token,
    refunded: fields.total_refunded_quote_token,
    createdAt: fields.created_at,
    lockSeconds: fields.lock_duration,
    vestingSeconds: fields.vest_duration,
    vestingStartsAt: fields.vesting_start_time,
    vestingEndsAt: fields.vesting_end_time,
    releaseAt: fields.immediate_release_timestamp,
    releaseBps: fields.immediate_release_bps,
    feesCollected: fields.deposit_fee_collected !== 0,
    creatorWithdrawn: fields.has_creator_withdrawn !== 0,
    unsoldDone: fields.is_unsold_token_action_performed !== 0,
    unsold: UNSOLD_ACTIONS[fields.unsold_token_action] ?? 'return',
    ...modeOf(mode, fields.presale_mode_raw_data),
    rounds: Array.from({ length: Math.min(fields.total_presale_registry_count, MOST_ROUNDS) }, (_, i) =>
      roundIn(new ByteReader(fields.presale_registries, i * ROUND_BYTES)),
    ),
  }
}

/** The bytes whose meaning depends on the mode. */
function modeOf(mode: RaiseMode, data: Uint8Array): Pick<Raise, 'price' | 'withdrawable' | 'earlyEnd'> {
  if (mode === 'pro_rata') return { price: null, withdrawable: true, earlyEnd: false }
  if (mode === 'first_come') return { price: null, withdrawable: false, earlyEnd: data[0] !== 1 }
  const reader = new ByteReader(data)
  return { price: reader.u128(), withdrawable: reader.u8() === 0, earlyEnd: reader.u8() === 0 }
}

function roundIn(reader: ByteReader): LiveRound {
  const [supply, deposited, escrows, claimed] = [reader.u64(), reader.u64(), reader.u64(), reader.u64()]
  const [refunded, buyerMin, buyerMax, fees] = [reader.u64(), reader.u64(), reader.u64(), reader.u64()]
  return { supply, deposited, escrows, claimed, refunded, buyerMin, buyerMax, fees, feeBps: reader.u16() }
}

/** Null for anything but the escrow of a raise. */
export function decodeRaiseEscrow(address: string, account: Account | null): RaiseEscrow | null {
  const fields = PRESALE.decode('escrow', account)
  return (
    fields && {
      address,
      raise: fields.presale,
      owner: fields.owner,
      round: fields.registry_index,
      deposited: fields.total_deposit,
      fees: fields.total_deposit_fee,
      cap: fields.deposit_max_cap,
      claimed: fields.total_claimed_token,
      isRefunded: fields.is_remaining_quote_withdrawn !== 0,
      createdAt: fields.created_at,
    }
  )
}

/** The state at a time, as the program says it. */
export function raiseStateAt(
  raise: Pick<Raise, 'startsAt' | 'endsAt' | 'deposited' | 'minimum'>,
  at: bigint,
): RaiseState {
  if (at < raise.startsAt) return 'not_started'
  if (at < raise.endsAt) return 'ongoing'
  return raise.deposited >= raise.minimum ? 'completed' : 'failed'
}
