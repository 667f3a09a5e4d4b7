/** Reads the changes that a transaction makes to launch curves, by the instructions of its message. */

import type { CompiledInstruction, DecodedMessage } from '../../../solana/decoded-message.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { type DbcClaimChange, dbcClaimAt } from './claim-changes.ts'

export type DbcChange =
  | { kind: 'pool_created'; pool: string; config: string; mint: string; creator: string }
  | { kind: 'swap'; pool: string; trader: string }
  | DbcClaimChange
  /** The role of the pool's creator, with all that was not claimed by it, is handed over. */
  | { kind: 'creator_transferred'; pool: string; creator: string; newCreator: string }
  /** `dammPool` is null for the step that locks the vesting. */
  | { kind: 'migration'; pool: string; step: 'create_locker' | 'migrate'; dammPool: string | null }

type DbcInstructionReader = (account: (index: number) => string | undefined) => DbcChange | null

/** Readers by the first eight bytes of the data in hex, as in the program's IDL. */
const DBC_INSTRUCTION_READERS: Readonly<Record<string, DbcInstructionReader>> = {
  // Instructions initialize_virtual_pool_with_spl_token and initialize_virtual_pool_with_token2022, and its transfer hook.
  '8c55d7b06636684f': readPoolCreated,
  a976334e916edc9b: readPoolCreated,
  b60de9b12a918702: readPoolCreated,
  // Instructions swap, swap2 and swap2_with_transfer_hook.
  f8c69e91e17587c8: swapped,
  '414b3f4ceb5b5b88': swapped,
  b75d992818e6c297: swapped,
  // The instruction transfer_pool_creator.
  '1407a9213a93a621': (account) =>
    completeChange({ kind: 'creator_transferred', pool: account(0), creator: account(2), newCreator: account(3) }),
  // Instructions create_locker and migration_damm_v2.
  a75a899a4b2f1154: (account) =>
    completeChange({ kind: 'migration', pool: account(0), step: 'create_locker', dammPool: null }),
  '9ca9e66735e45040': (account) =>
    completeChange({ kind: 'migration', pool: account(0), step: 'migrate', dammPool: account(4) }),
}

/**
 * Returns one change per instruction, in order, whether or not the transaction succeeds. Calls between programs and
 * accounts from lookup tables are included if the message was read from the chain.
 */
export function dbcChangesIn({ keys, instructions }: DecodedMessage): DbcChange[] {
  return instructions.flatMap((instruction, i): DbcChange[] => {
    if (keys[instruction.programIdIndex] !== PROGRAMS.dbc.id) return []
    const discriminator = Buffer.from(instruction.data).toString('hex', 0, 8)
    const read = Object.hasOwn(DBC_INSTRUCTION_READERS, discriminator)
      ? DBC_INSTRUCTION_READERS[discriminator]
      : undefined
    const change = read?.((index) => dbcAccountAt(keys, instruction, index)) ?? dbcClaimAt({ keys, instructions }, i)
    return change === null ? [] : [change]
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

function dbcAccountAt(keys: readonly string[], { accounts }: CompiledInstruction, index: number): string | undefined {
  const key = accounts[index]
  return key === undefined ? undefined : keys[key]
}

/** Returns null when an account is missing, such as one from a lookup table. */
function completeChange(change: { [K in keyof DbcChange]: unknown } & Record<string, unknown>): DbcChange | null {
  return Object.values(change).includes(undefined) ? null : (change as unknown as DbcChange)
}
