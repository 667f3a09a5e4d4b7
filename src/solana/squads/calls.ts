/** The instructions of Squads v4 that are made here, and the message that one of them proposes. */

import { ByteReader, ShortData } from '../byte-reader.ts'
import type { CompiledInstruction, DecodedMessage } from '../decoded-message.ts'
import { PROGRAMS } from '../programs.ts'
import { SquadsFault } from './fault.ts'
import { readCompactMessage, type SquadsMessage } from './message.ts'

/** First eight bytes of the instructions in hex. */
export const SQUADS_CALLS = {
  multisigCreate: '32ddc75d28f58be9',
  transactionCreate: '30fa4ea8d0e2dad3',
  transactionCreateFromBuffer: 'de36954457f630e7',
  transactionExecute: 'c208a15799a419ab',
  transactionClose: 'c447bbb00223aaa5',
  proposalCreate: 'dc3c49e01e6c4f9f',
  proposalApprove: '9025a488bcd82af8',
  proposalReject: 'f33e869ce66af687',
  /** The instruction proposal_cancel_v2, which also works after the members have changed. */
  proposalCancel: 'cd29c23ddc8b10f7',
  bufferCreate: 'f5c9716c253f1d59',
  bufferExtend: 'e69d433805eef592',
  bufferClose: '11b6d0e48818b266',
} as const

const PREFIX_BYTES = 8
/** Places of the proposal and of the stored transaction among the accounts of the instruction that executes. */
const [PROPOSAL_PLACE, TRANSACTION_PLACE] = [1, 2]

const isCall = (program: string | undefined, data: Uint8Array, call: keyof typeof SQUADS_CALLS): boolean =>
  program === PROGRAMS.squads.id && Buffer.from(data.subarray(0, PREFIX_BYTES)).toString('hex') === SQUADS_CALLS[call]

/** The accounts of what an instruction executes; null for any other instruction. */
export function executedAccounts(
  keys: readonly string[],
  { programIdIndex, accounts, data }: CompiledInstruction,
): { proposal: string | undefined; transaction: string | undefined } | null {
  if (!isCall(keys[programIdIndex], data, 'transactionExecute')) return null
  const at = (place: number) => keys[accounts[place] ?? keys.length]
  return { proposal: at(PROPOSAL_PLACE), transaction: at(TRANSACTION_PLACE) }
}

/** The stored transactions that a message executes. */
export const executedTransactions = ({ keys, instructions }: Pick<DecodedMessage, 'keys' | 'instructions'>): string[] =>
  instructions.flatMap((each) => executedAccounts(keys, each)?.transaction ?? [])

/** The message that an instruction proposes to a vault; null for any other instruction, and for one that is unreadable. */
export function proposedMessage(program: string, data: Uint8Array): SquadsMessage | null {
  if (!isCall(program, data, 'transactionCreate')) return null
  try {
    const reader = new ByteReader(data, PREFIX_BYTES)
    reader.take(2)
    return readCompactMessage(reader.take(reader.u32()))
  } catch (error) {
    if (error instanceof ShortData || error instanceof SquadsFault) return null
    throw error
  }
}
