/** Reads the changes that a transaction makes to airdrops, by its own instructions. */
import type { CompiledInstruction, DecodedMessage } from '../../../solana/decoded-message.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { DISTRIBUTOR_INSTRUCTIONS } from './layout.ts'

/** Bytes of a creation's data, and the place of its start. */
const [CREATION_BYTES, START_AT] = [88, 64]

export type DistributorChange =
  | {
      kind: 'created'
      distributor: string
      mint: string
      /** The program's version, which may exceed the range of an airdrop_count. */
      version: bigint
      /** Merkle root in hex without a prefix. */
      root: string
      admin: string
    }
  | {
      kind: 'claimed'
      distributor: string
      claimer: string
      /** Paid by this instruction, in raw units. */
      amount: bigint
      /** Vests later, in raw units. */
      locked: bigint
      /** Hashes of 32 bytes each, from leaf to root. */
      proof: Uint8Array[]
    }
  /** A wallet takes what has vested. How much, only its claim status (an address) tells afterwards. */
  | { kind: 'vested_claimed'; distributor: string; claimer: string; status: string }
  | { kind: 'clawed_back'; distributor: string; receiver: string }

/**
 * Returns the start of the airdrop that an instruction creates, in Unix seconds; null if it creates none. The program
 * creates no airdrop whose start has passed.
 */
export function creationStartOf(program: string | undefined, data: Uint8Array): bigint | null {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const isCreation =
    program === PROGRAMS.distributor.id &&
    bytes.length >= CREATION_BYTES &&
    DISTRIBUTOR_INSTRUCTIONS.newDistributor.equals(bytes.subarray(0, 8))
  return isCreation ? bytes.readBigInt64LE(START_AT) : null
}

/**
 * Returns one change per instruction, in order, whether or not the transaction succeeds. Calls between programs and
 * accounts from lookup tables are not included.
 */
export function distributorChangesIn({ keys, instructions }: DecodedMessage): DistributorChange[] {
  return instructions.flatMap((instruction) => {
    if (keys[instruction.programIdIndex] !== PROGRAMS.distributor.id) return []
    const change = distributorChangeOf(keys, instruction)
    return change === null ? [] : [change]
  })
}

function distributorChangeOf(
  keys: readonly string[],
  { accounts, data: bytes }: CompiledInstruction,
): DistributorChange | null {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const account = (index: number) => keys[accounts[index] ?? -1]
  const is = (name: keyof typeof DISTRIBUTOR_INSTRUCTIONS) => DISTRIBUTOR_INSTRUCTIONS[name].equals(data.subarray(0, 8))
  const distributor = account(0)
  if (distributor === undefined) return null
  if (is('newDistributor')) {
    const [mint, admin] = [account(2), account(4)]
    if (mint === undefined || admin === undefined || data.length < 48) return null
    const [version, root] = [data.readBigUInt64LE(8), data.toString('hex', 16, 48)]
    return { kind: 'created', distributor, mint, version, root, admin }
  }
  if (is('newClaim')) {
    const claimer = account(4)
    if (claimer === undefined || data.length < 28) return null
    const siblings = data.readUInt32LE(24)
    if (data.length < 28 + 32 * siblings) return null
    const proof = Array.from({ length: siblings }, (_, i) => Uint8Array.from(data.subarray(28 + 32 * i, 60 + 32 * i)))
    const [amount, locked] = [data.readBigUInt64LE(8), data.readBigUInt64LE(16)]
    return { kind: 'claimed', distributor, claimer, amount, locked, proof }
  }
  if (is('claimLocked')) {
    const [status, claimer] = [account(1), account(4)]
    if (status === undefined || claimer === undefined) return null
    return { kind: 'vested_claimed', distributor, claimer, status }
  }
  const receiver = account(2)
  return is('clawback') && receiver !== undefined ? { kind: 'clawed_back', distributor, receiver } : null
}
