/** Reads the changes that a transaction makes to launch curves, by the instructions of its message. */

import type { CompiledInstruction, DecodedMessage } from '../../../solana/messages.ts'
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'

export interface DbcRecipient {
  recipient: string
  lamports: bigint
}

export type DbcChange =
  | { kind: 'pool_created'; pool: string; config: string; mint: string; creator: string }
  | { kind: 'swap'; pool: string; trader: string }
  /**
   * `lamports` is the most that is claimed. `recipients` are those of the fee claimer's transfers up to the next
   * instruction of the program, its events aside: its splits, and any other payments after the claim.
   */
  | { kind: 'claim'; pool: string; feeClaimer: string; lamports: bigint; recipients: DbcRecipient[] }
  | { kind: 'surplus'; pool: string; feeClaimer: string }
  /** `dammPool` is null for the step that locks the vesting. */
  | { kind: 'migration'; pool: string; step: 'create_locker' | 'migrate'; dammPool: string | null }

type DbcInstructionReader = (account: (index: number) => string | undefined, data: Buffer) => DbcChange | null

/** Number of the System instruction `Transfer`. */
const TRANSFER = 2
/** First bytes of the calls by which an Anchor program emits its events to itself (anchor-lang, `EVENT_IX_TAG_LE`). */
const ANCHOR_EVENT = 'e445a52e51cb9a1d'

/** Readers by the first eight bytes of the data in hex, as in the program's IDL. */
const DBC_INSTRUCTION_READERS: Readonly<Record<string, DbcInstructionReader>> = {
  // Instructions initialize_virtual_pool_with_spl_token and initialize_virtual_pool_with_token2022.
  '8c55d7b06636684f': readPoolCreated,
  a976334e916edc9b: readPoolCreated,
  // Instructions swap and swap2.
  f8c69e91e17587c8: swapped,
  '414b3f4ceb5b5b88': swapped,
  // Instructions claim_trading_fee and claim_trading_fee2.
  '08ec5931987db151': readFeesClaimed,
  '54bf473209a237c1': readFeesClaimed,
  // Instruction partner_withdraw_surplus.
  a8ad4864c962265c: (account) => completeChange({ kind: 'surplus', pool: account(2), feeClaimer: account(6) }),
  // Instructions create_locker and migration_damm_v2.
  a75a899a4b2f1154: (account) =>
    completeChange({ kind: 'migration', pool: account(0), step: 'create_locker', dammPool: null }),
  '9ca9e66735e45040': (account) =>
    completeChange({ kind: 'migration', pool: account(0), step: 'migrate', dammPool: account(4) }),
}

/**
 * Returns one change per instruction, in order, whether or not the transaction succeeds. Calls between programs and
 * accounts from lookup tables are included where the message was read from the chain.
 */
export function dbcChangesIn({ keys, instructions }: DecodedMessage): DbcChange[] {
  return instructions.flatMap((instruction, i): DbcChange[] => {
    if (keys[instruction.programIdIndex] !== PROGRAMS.dbc.id) return []
    const data = Buffer.from(instruction.data)
    const discriminator = data.toString('hex', 0, 8)
    const read = Object.hasOwn(DBC_INSTRUCTION_READERS, discriminator)
      ? DBC_INSTRUCTION_READERS[discriminator]
      : undefined
    const change = read?.((index) => dbcAccountAt(keys, instruction, index), data) ?? null
    if (change === null) return []
    if (change.kind !== 'claim') return [change]
    return [
      { ...change, recipients: recipientsAfter({ keys, instructions: instructions.slice(i + 1) }, change.feeClaimer) },
    ]
  })
}

function readPoolCreated(account: (index: number) => string | undefined): DbcChange | null {
  return completeChange({
    kind: 'pool_created',
    pool: account(5),
    config: account(0),
    mint: account(3),
    creator: account(2),
  })
}

function swapped(account: (index: number) => string | undefined): DbcChange | null {
  return completeChange({ kind: 'swap', pool: account(2), trader: account(9) })
}

function readFeesClaimed(account: (index: number) => string | undefined, data: Buffer): DbcChange | null {
  // The token limit precedes the quote limit in the data.
  if (data.length < 24) return null
  const lamports = data.readBigUInt64LE(16)
  return completeChange({ kind: 'claim', pool: account(2), feeClaimer: account(9), lamports, recipients: [] })
}

function recipientsAfter({ keys, instructions }: Pick<DecodedMessage, 'keys' | 'instructions'>, from: string) {
  const recipients: DbcRecipient[] = []
  for (const instruction of instructions) {
    const program = keys[instruction.programIdIndex]
    const data = Buffer.from(instruction.data)
    // In the order of execution, the event of the claim stands between it and its splits.
    if (program === PROGRAMS.dbc.id && data.toString('hex', 0, 8) !== ANCHOR_EVENT) break
    const recipient = dbcAccountAt(keys, instruction, 1)
    const isTransfer = program === SYSTEM_PROGRAM && data.length >= 12 && data.readUInt32LE(0) === TRANSFER
    if (!isTransfer || recipient === undefined || dbcAccountAt(keys, instruction, 0) !== from) continue
    recipients.push({ recipient, lamports: data.readBigUInt64LE(4) })
  }
  return recipients
}

function dbcAccountAt(keys: readonly string[], { accounts }: CompiledInstruction, index: number): string | undefined {
  const key = accounts[index]
  return key === undefined ? undefined : keys[key]
}

/** Returns null when an account is missing, such as one from a lookup table. */
function completeChange(change: { [K in keyof DbcChange]: unknown } & Record<string, unknown>): DbcChange | null {
  return Object.values(change).includes(undefined) ? null : (change as unknown as DbcChange)
}
