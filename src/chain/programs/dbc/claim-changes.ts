/**
 * Reads who claims what from a launch curve: trading fees, surplus, migration fee, leftover and creation fee, by
 * partner or creator.
 */

import type { Beneficiary } from '../../../api/fee-claims.ts'
import { addressOf } from '../../../solana/addresses.ts'
import type { CompiledInstruction, DecodedMessage } from '../../../solana/decoded-message.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'

/** A share that the claimer paid on: lamports, or raw units of the token that the curve is quoted in. */
export type DbcRecipient = { recipient: string; lamports: bigint } | { recipient: string; mint: string; amount: bigint }

export type DbcClaimChange =
  /**
   * `lamports` is the most of the quote that is claimed, in raw units. `recipients` are those of the claimer's
   * transfers up to the program's next instruction, apart from its events: its splits, and any other payments after
   * the claim.
   */
  | {
      kind: 'claim'
      pool: string
      beneficiary: Beneficiary
      claimer: string
      lamports: bigint
      recipients: DbcRecipient[]
    }
  /** `claimer` signs; that of the leftover is who receives it, as anybody may send its withdrawal. */
  | {
      kind: 'surplus' | 'migration_fee' | 'leftover' | 'pool_creation_fee'
      pool: string
      beneficiary: Beneficiary
      claimer: string
    }

type Claimed = Pick<DecodedMessage, 'keys' | 'instructions'>

interface ClaimReading {
  kind: DbcClaimChange['kind']
  /** Null if the data contains it. */
  beneficiary: Beneficiary | null
  /** Indexes of the accounts. */
  pool: number
  claimer: number
}

const PARTNER_FEES: ClaimReading = { kind: 'claim', beneficiary: 'partner', pool: 2, claimer: 9 }
const CREATOR_FEES: ClaimReading = { kind: 'claim', beneficiary: 'creator', pool: 1, claimer: 8 }

/** Readings by the first eight bytes of the data in hex, as in the program's IDL. */
const CLAIM_READINGS: Readonly<Record<string, ClaimReading>> = {
  // Instructions claim_trading_fee and claim_trading_fee2.
  '08ec5931987db151': PARTNER_FEES,
  '54bf473209a237c1': PARTNER_FEES,
  // Instructions claim_creator_trading_fee and claim_creator_trading_fee2.
  '52dcfabd03556b2d': CREATOR_FEES,
  eef7d55e6e91588e: CREATOR_FEES,
  // Instructions partner_withdraw_surplus and creator_withdraw_surplus.
  a8ad4864c962265c: { kind: 'surplus', beneficiary: 'partner', pool: 2, claimer: 6 },
  a50389071c864c50: { kind: 'surplus', beneficiary: 'creator', pool: 2, claimer: 6 },
  // The instruction withdraw_migration_fee, whose data names the party.
  ed8e2d178106dea2: { kind: 'migration_fee', beneficiary: null, pool: 2, claimer: 6 },
  // The instruction withdraw_leftover.
  '14c6caedebf3b742': { kind: 'leftover', beneficiary: 'partner', pool: 2, claimer: 6 },
  // The instruction claim_partner_pool_creation_fee.
  faee1a048b0a65f8: { kind: 'pool_creation_fee', beneficiary: 'partner', pool: 1, claimer: 2 },
}

/** Argument of withdraw_migration_fee; 0 is the partner. */
const OF_CREATOR = 1
/** Number of the System instruction `Transfer`. */
const TRANSFER = 2
/** Numbers of the instructions `Transfer` and `TransferChecked` of both token programs. */
const [TOKEN_TRANSFER, TOKEN_TRANSFER_CHECKED] = [3, 12]
/** First bytes of the calls by which an Anchor program emits its events to itself (anchor-lang, `EVENT_IX_TAG_LE`). */
const ANCHOR_EVENT = 'e445a52e51cb9a1d'
/** First bytes of the events of both claims of trading fees; pool, base amount and quote amount follow. */
const CLAIMED_EVENTS = { partner: '1a5375f05cca70fe', creator: '9ae4d7ca859bd68a' } as const
const CLAIMED_EVENT_BYTES = 64

/**
 * Returns what the instruction at this index claims. Null for another instruction, for a claim of trading fees that
 * paid nothing according to the chain, and if an account is from a lookup table that was not read.
 */
export function dbcClaimAt({ keys, instructions }: Claimed, place: number): DbcClaimChange | null {
  const instruction = instructions[place]
  if (instruction === undefined) return null
  const data = Buffer.from(instruction.data)
  const name = data.toString('hex', 0, 8)
  const reading = Object.hasOwn(CLAIM_READINGS, name) ? CLAIM_READINGS[name] : undefined
  if (reading === undefined) return null
  const [pool, claimer] = [reading.pool, reading.claimer].map((index) => claimAccountAt(keys, instruction, index))
  if (pool === undefined || claimer === undefined) return null
  const { kind, beneficiary } = reading
  if (kind !== 'claim') {
    const other = data[8] === OF_CREATOR ? 'creator' : 'partner'
    return { kind, pool, beneficiary: beneficiary ?? other, claimer }
  }
  const after = { keys, instructions: instructions.slice(place + 1) }
  // The token limit precedes the quote limit in the data.
  if (data.length < 24 || beneficiary === null || hasPaidNothing(after, { pool, beneficiary })) return null
  const recipients = recipientsAfter({ keys, instructions }, place, claimer)
  return { kind, pool, beneficiary, claimer, lamports: data.readBigUInt64LE(16), recipients }
}

/** Whether the claim's own event has zero for both amounts. Only the chain's record of the run has events. */
function hasPaidNothing(
  { keys, instructions }: Claimed,
  { pool, beneficiary }: Pick<DbcClaimChange, 'pool' | 'beneficiary'>,
): boolean {
  const next = instructions.find(({ programIdIndex }) => keys[programIdIndex] === PROGRAMS.dbc.id)
  const data = Buffer.from(next?.data ?? [])
  if (!isAnchorEvent(data) || data.length < CLAIMED_EVENT_BYTES) return false
  if (data.toString('hex', 8, 16) !== CLAIMED_EVENTS[beneficiary] || addressOf(data.subarray(16, 48)) !== pool)
    return false
  return data.readBigUInt64LE(48) === 0n && data.readBigUInt64LE(56) === 0n
}

const isAnchorEvent = (data: Buffer) => data.toString('hex', 0, 8) === ANCHOR_EVENT

function recipientsAfter({ keys, instructions }: Claimed, place: number, from: string): DbcRecipient[] {
  const recipients: DbcRecipient[] = []
  const owners = openedAccounts({ keys, instructions })
  for (const instruction of instructions.slice(place + 1)) {
    const program = keys[instruction.programIdIndex]
    const data = Buffer.from(instruction.data)
    // In the order of execution, the event of the claim stands between it and its splits.
    if (program === PROGRAMS.dbc.id && !isAnchorEvent(data)) break
    const at = (index: number) => claimAccountAt(keys, instruction, index)
    if (program === SYSTEM_PROGRAM) {
      const recipient = at(1)
      const isTransfer = data.length >= 12 && data.readUInt32LE(0) === TRANSFER
      if (!isTransfer || recipient === undefined || at(0) !== from) continue
      recipients.push({ recipient, lamports: data.readBigUInt64LE(4) })
    } else if ((program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM) && data.length >= 9) {
      const isChecked = data[0] === TOKEN_TRANSFER_CHECKED
      if (!isChecked && data[0] !== TOKEN_TRANSFER) continue
      const [to, signer] = isChecked ? [at(2), at(3)] : [at(1), at(2)]
      const opened = to === undefined ? undefined : owners.get(to)
      // A claimer's transfer to its own account asserts an amount, and pays nobody.
      if (signer !== from || opened === undefined || opened.owner === from) continue
      recipients.push({ recipient: opened.owner, mint: opened.mint, amount: data.readBigUInt64LE(1) })
    }
  }
  return recipients
}

/**
 * Returns owner and mint of the associated accounts that the transaction opens, which a transfer itself does not name.
 */
function openedAccounts({ keys, instructions }: Claimed): Map<string, { owner: string; mint: string }> {
  const opened = new Map<string, { owner: string; mint: string }>()
  for (const instruction of instructions) {
    if (keys[instruction.programIdIndex] !== ASSOCIATED_TOKEN_PROGRAM) continue
    const [account, owner, mint] = [1, 2, 3].map((index) => claimAccountAt(keys, instruction, index))
    if (account !== undefined && owner !== undefined && mint !== undefined) opened.set(account, { owner, mint })
  }
  return opened
}

function claimAccountAt(keys: readonly string[], { accounts }: CompiledInstruction, index: number): string | undefined {
  const key = accounts[index]
  return key === undefined ? undefined : keys[key]
}
