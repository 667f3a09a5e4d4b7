/**
 * Reads the changes that a transaction makes to launch curves, by the instructions of its message: among them who
 * claims what, trading fees, surplus, migration fee, leftover and creation fee, as partner or creator.
 */
import type { Beneficiary } from '../../../api/fee-claims.ts'
import type { CompiledInstruction, DecodedMessage } from '../../../solana/decoded-message.ts'
import { type DecodedInstruction, decodeInstruction } from '../../../solana/instructions.ts'
import { DBC } from '../../../solana/programs/dbc.ts'
import { isEvent } from '../../../solana/programs/table.ts'

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

export type DbcChange =
  | { kind: 'pool_created'; pool: string; config: string; mint: string; creator: string }
  | { kind: 'swap'; pool: string; trader: string }
  | DbcClaimChange
  /** The role of the pool's creator, with all that was not claimed by it, is handed over. */
  | { kind: 'creator_transferred'; pool: string; creator: string; newCreator: string }
  /** `dammPool` is null for the step that locks the vesting. */
  | { kind: 'migration'; pool: string; step: 'create_locker' | 'migrate'; dammPool: string | null }

/** A change whose accounts may be missing. */
type Reading<C = DbcChange> = C extends unknown ? { [F in keyof C]: C[F] | undefined } : never
type DbcCall = ReturnType<typeof DBC.callsIn>[number]

/**
 * Returns one change per instruction, in order, whether or not the transaction succeeds. Left out are claims of trading
 * fees that paid nothing according to the chain. Calls between programs and accounts from lookup tables are included
 * if the message was read from the chain.
 */
export function dbcChangesIn(message: DecodedMessage): DbcChange[] {
  return DBC.callsIn(message).flatMap((call): DbcChange[] => {
    const change = changeOf(call)
    if (change === null || Object.values(change).includes(undefined)) return []
    const whole = change as DbcChange
    if (whole.kind !== 'claim') return [whole]
    const after = message.instructions.slice(call.place + 1)
    if (hasPaidNothing(message.keys, after, whole)) return []
    return [{ ...whole, recipients: recipientsAfter(message, after, whole.claimer) }]
  })
}

function changeOf({ name, accounts, known }: DbcCall): Reading | null {
  switch (name) {
    case 'initialize_virtual_pool_with_spl_token':
    case 'initialize_virtual_pool_with_token2022':
    case 'initialize_virtual_pool_with_token2022_transfer_hook': {
      const { pool, config, base_mint: mint, creator } = accounts
      return { kind: 'pool_created', pool, config, mint, creator }
    }
    case 'swap':
    case 'swap2':
    case 'swap2_with_transfer_hook':
      return { kind: 'swap', pool: accounts.pool, trader: accounts.payer }
    case 'transfer_pool_creator': {
      const { virtual_pool: pool, creator, new_creator: newCreator } = accounts
      return { kind: 'creator_transferred', pool, creator, newCreator }
    }
    case 'create_locker':
      return { kind: 'migration', pool: accounts.virtual_pool, step: 'create_locker', dammPool: null }
    case 'migration_damm_v2':
      return { kind: 'migration', pool: accounts.virtual_pool, step: 'migrate', dammPool: accounts.pool }
    case 'claim_trading_fee':
    case 'claim_trading_fee2': {
      const { pool, fee_claimer: claimer } = accounts
      return { kind: 'claim', pool, beneficiary: 'partner', claimer, lamports: known.max_amount_b, recipients: [] }
    }
    case 'claim_creator_trading_fee':
    case 'claim_creator_trading_fee2': {
      const { pool, creator: claimer } = accounts
      return { kind: 'claim', pool, beneficiary: 'creator', claimer, lamports: known.max_quote_amount, recipients: [] }
    }
    case 'partner_withdraw_surplus': {
      const { virtual_pool: pool, fee_claimer: claimer } = accounts
      return { kind: 'surplus', pool, beneficiary: 'partner', claimer }
    }
    case 'creator_withdraw_surplus': {
      const { virtual_pool: pool, creator: claimer } = accounts
      return { kind: 'surplus', pool, beneficiary: 'creator', claimer }
    }
    case 'withdraw_migration_fee': {
      const { virtual_pool: pool, sender: claimer } = accounts
      return { kind: 'migration_fee', pool, beneficiary: known.flag === OF_CREATOR ? 'creator' : 'partner', claimer }
    }
    case 'withdraw_leftover': {
      const { virtual_pool: pool, leftover_receiver: claimer } = accounts
      return { kind: 'leftover', pool, beneficiary: 'partner', claimer }
    }
    case 'claim_partner_pool_creation_fee': {
      const { pool, fee_claimer: claimer } = accounts
      return { kind: 'pool_creation_fee', pool, beneficiary: 'partner', claimer }
    }
    default:
      return null
  }
}

/** Argument of withdraw_migration_fee; 0 is the partner. */
const OF_CREATOR = 1
const CLAIMED_EVENTS = { partner: 'evt_claim_trading_fee', creator: 'evt_claim_creator_trading_fee' } as const

/** Whether the claim's own event has zero for both amounts. Only the chain's record of the run has events. */
function hasPaidNothing(
  keys: readonly string[],
  after: readonly CompiledInstruction[],
  { pool, beneficiary }: Pick<DbcClaimChange, 'pool' | 'beneficiary'>,
): boolean {
  const next = after.find(({ programIdIndex }) => keys[programIdIndex] === DBC.id)
  const event = next === undefined ? null : DBC.event(CLAIMED_EVENTS[beneficiary], next.data)
  return event?.pool === pool && event.token_base_amount === 0n && event.token_quote_amount === 0n
}

function recipientsAfter(message: DecodedMessage, after: readonly CompiledInstruction[], from: string): DbcRecipient[] {
  const recipients: DbcRecipient[] = []
  const owners = openedAccounts(message)
  for (const instruction of after) {
    // In the order of execution, the event of the claim stands between it and its splits.
    if (message.keys[instruction.programIdIndex] === DBC.id && !isEvent(instruction.data)) break
    const called = decoded(message.keys, instruction)
    if (called?.program === 'system' && called.instruction.type === 'transfer') {
      const { source, destination: recipient, lamports } = called.instruction
      if (source === from) recipients.push({ recipient, lamports })
    }
    if (called?.program !== 'token') continue
    const { instruction: transfer } = called
    if (transfer.type !== 'transfer' && transfer.type !== 'transferChecked') continue
    const opened = owners.get(transfer.destination)
    // A claimer's transfer to its own account asserts an amount, and pays nobody.
    if (transfer.authority !== from || opened === undefined || opened.owner === from) continue
    recipients.push({ recipient: opened.owner, mint: opened.mint, amount: transfer.amount })
  }
  return recipients
}

/**
 * Returns owner and mint of the associated accounts that the transaction opens, which a transfer itself does not name.
 */
function openedAccounts({ keys, instructions }: DecodedMessage): Map<string, { owner: string; mint: string }> {
  const opened = new Map<string, { owner: string; mint: string }>()
  for (const instruction of instructions) {
    const called = decoded(keys, instruction)
    if (called?.program !== 'associated-token' || called.instruction.type === 'recoverNested') continue
    const { account, wallet: owner, mint } = called.instruction
    opened.set(account, { owner, mint })
  }
  return opened
}

/** Null for an unknown instruction, and if it names an account from a lookup table that was not read. */
function decoded(
  keys: readonly string[],
  { programIdIndex, accounts, data }: CompiledInstruction,
): DecodedInstruction | null {
  const addresses = [programIdIndex, ...accounts].flatMap((index) => keys[index] ?? [])
  const [program] = addresses
  return program === undefined || addresses.length <= accounts.length
    ? null
    : decodeInstruction(program, addresses.slice(1), data)
}
