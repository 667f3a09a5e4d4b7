/** Instructions of Squads v4 with their accounts in order, as in the program's IDL. */
import type { AccountMeta, TransactionInstruction } from '@solana/web3.js'
import { addressBytes } from '../../../solana/addresses.ts'
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { PROGRAMS, SQUADS_SETTINGS } from '../../../solana/programs.ts'
import { SQUADS_CALLS } from '../../../solana/squads/calls.ts'
import {
  compactMessage,
  type PinnedMessage,
  type SquadsMember,
  squadsProposalAddress,
  squadsTransactionAddress,
  transactionBufferAddress,
} from '../../../solana/squads/index.ts'

/** An account by its address: `w` is writable, `s` signs. */
export type Role = readonly [address: string, flags: '' | 'w' | 's' | 'sw']

/** The memo of an instruction that has none, and every other empty option. */
const NONE = Buffer.of(0)

/** The compiler of one program's instructions, with web3.js loaded. */
export async function squadsInstructions() {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  const keyOf = (address: string) => new PublicKey(addressBytes(address))
  const meta = ([address, flags]: Role): AccountMeta => ({
    pubkey: keyOf(address),
    isSigner: flags.includes('s'),
    isWritable: flags.includes('w'),
  })
  const program = keyOf(PROGRAMS.squads.id)
  return {
    instruction: (
      name: keyof typeof SQUADS_CALLS,
      roles: readonly Role[],
      ...args: readonly Uint8Array[]
    ): TransactionInstruction =>
      new TransactionInstruction({
        programId: program,
        keys: roles.map(meta),
        data: Buffer.concat([Buffer.from(SQUADS_CALLS[name], 'hex'), ...args]),
      }),
    /** Asks for the largest heap, of 256 KiB, in a transaction of version 0. */
    heapFrame: (): TransactionInstruction =>
      new TransactionInstruction({
        programId: keyOf(COMPUTE_BUDGET_PROGRAM),
        keys: [],
        data: Buffer.concat([Buffer.of(REQUEST_HEAP), u32(LARGEST_HEAP)]),
      }),
  }
}

export type SquadsInstructions = Awaited<ReturnType<typeof squadsInstructions>>

/** Tag of RequestHeapFrame among the instructions of the Compute Budget program. */
const REQUEST_HEAP = 1
export const LARGEST_HEAP = 256 * 1024
/** Above either, the program needs more than the usual heap of 32 KiB. */
const [USUAL_INSTRUCTIONS, USUAL_BYTES] = [20, 900]

/** Whether the message is so large that storing and executing it needs the largest heap. */
export const needsHeap = (message: PinnedMessage): boolean =>
  message.instructions.length > USUAL_INSTRUCTIONS || compactMessage(message).length > USUAL_BYTES

const u16 = (value: number) => numberBytes(value, 2)
const u32 = (value: number) => numberBytes(value, 4)

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

function numberBytes(value: number, size: number): Buffer {
  const bytes = Buffer.alloc(size)
  bytes.writeUIntLE(value, 0, size)
  return bytes
}

/** Bytes with their length before them. */
const listed = (bytes: Uint8Array): Buffer => Buffer.concat([u32(bytes.length), bytes])

const optionalKey = (address: string | null): Uint8Array =>
  address === null ? NONE : Buffer.concat([Buffer.of(1), addressBytes(address)])

export interface NewMultisig {
  /** Address of the multisig, and the key that it is derived from, which signs. */
  multisig: string
  createKey: string
  creator: string
  /** Receives the program's fee. */
  treasury: string
  threshold: number
  timeLock: number
  members: readonly SquadsMember[]
  configAuthority: string | null
  rentCollector: string | null
}

export const multisigCreate = ({ instruction }: SquadsInstructions, wish: NewMultisig): TransactionInstruction =>
  instruction(
    'multisigCreate',
    [
      [SQUADS_SETTINGS, ''],
      [wish.treasury, 'w'],
      [wish.multisig, 'w'],
      [wish.createKey, 's'],
      [wish.creator, 'sw'],
      [SYSTEM_PROGRAM, ''],
    ],
    optionalKey(wish.configAuthority),
    u16(wish.threshold),
    u32(wish.members.length),
    ...wish.members.flatMap(({ address, initiate, vote, execute }) => [
      addressBytes(address),
      Buffer.of((initiate ? 1 : 0) | (vote ? 2 : 0) | (execute ? 4 : 0)),
    ]),
    u32(wish.timeLock),
    optionalKey(wish.rentCollector),
    NONE,
  )

/** A transaction of a multisig, the member that acts, and who pays for new accounts. */
export interface Acting {
  multisig: string
  index: bigint
  member: string
  rentPayer: string
}

const creating = ({ multisig, index, member, rentPayer }: Acting): Role[] => [
  [multisig, 'w'],
  [squadsTransactionAddress(multisig, index), 'w'],
  [member, 's'],
  [rentPayer, 'sw'],
  [SYSTEM_PROGRAM, ''],
]

interface StoredTerms {
  vaultIndex: number
  ephemeralSigners: number
}

export const transactionCreate = (
  { instruction }: SquadsInstructions,
  acting: Acting,
  { vaultIndex, ephemeralSigners, message }: StoredTerms & { message: Uint8Array },
): TransactionInstruction =>
  instruction('transactionCreate', creating(acting), Buffer.of(vaultIndex, ephemeralSigners), listed(message), NONE)

/** In place of the message stand six zeros: the program takes the message from the buffer, and closes it. */
const PLACEHOLDER = Buffer.alloc(6)

export const transactionCreateFromBuffer = (
  { instruction }: SquadsInstructions,
  acting: Acting,
  { vaultIndex, ephemeralSigners, bufferIndex }: StoredTerms & { bufferIndex: number },
): TransactionInstruction =>
  instruction(
    'transactionCreateFromBuffer',
    [...creating(acting), [bufferOf(acting, bufferIndex), 'w'], [acting.member, 'sw']],
    Buffer.of(vaultIndex, ephemeralSigners),
    listed(PLACEHOLDER),
    NONE,
  )

const bufferOf = ({ multisig, member }: Pick<Acting, 'multisig' | 'member'>, bufferIndex: number) =>
  transactionBufferAddress(multisig, member, bufferIndex)

export const proposalCreate = (
  { instruction }: SquadsInstructions,
  { multisig, index, member, rentPayer }: Acting,
): TransactionInstruction =>
  instruction(
    'proposalCreate',
    [
      [multisig, ''],
      [squadsProposalAddress(multisig, index), 'w'],
      [member, 's'],
      [rentPayer, 'sw'],
      [SYSTEM_PROGRAM, ''],
    ],
    u64(index),
    // It is open for votes at once.
    Buffer.of(0),
  )

export type SquadsVote = 'approve' | 'reject' | 'cancel'

export const vote = (
  { instruction }: SquadsInstructions,
  kind: SquadsVote,
  { multisig, index, member }: Pick<Acting, 'multisig' | 'index' | 'member'>,
): TransactionInstruction => {
  const roles: Role[] = [
    [multisig, ''],
    [member, 'sw'],
    [squadsProposalAddress(multisig, index), 'w'],
  ]
  if (kind === 'approve') return instruction('proposalApprove', roles, NONE)
  if (kind === 'reject') return instruction('proposalReject', roles, NONE)
  return instruction('proposalCancel', [...roles, [SYSTEM_PROGRAM, '']], NONE)
}

interface Buffering extends Omit<Acting, 'index'> {
  bufferIndex: number
}

export const bufferCreate = (
  { instruction }: SquadsInstructions,
  { multisig, member, rentPayer, bufferIndex }: Buffering,
  { vaultIndex, hash, size, chunk }: { vaultIndex: number; hash: Uint8Array; size: number; chunk: Uint8Array },
): TransactionInstruction =>
  instruction(
    'bufferCreate',
    [
      [multisig, ''],
      [bufferOf({ multisig, member }, bufferIndex), 'w'],
      [member, 's'],
      [rentPayer, 'sw'],
      [SYSTEM_PROGRAM, ''],
    ],
    Buffer.of(bufferIndex, vaultIndex),
    hash,
    u16(size),
    listed(chunk),
  )

type OwnBuffer = Pick<Buffering, 'multisig' | 'member' | 'bufferIndex'>

const bufferRoles = ({ multisig, member, bufferIndex }: OwnBuffer): Role[] => [
  [multisig, ''],
  [bufferOf({ multisig, member }, bufferIndex), 'w'],
  [member, 's'],
]

export const bufferExtend = (
  { instruction }: SquadsInstructions,
  buffer: OwnBuffer,
  chunk: Uint8Array,
): TransactionInstruction => instruction('bufferExtend', bufferRoles(buffer), listed(chunk))

export const bufferClose = ({ instruction }: SquadsInstructions, buffer: OwnBuffer): TransactionInstruction =>
  instruction('bufferClose', bufferRoles(buffer))

/** `accounts` are those of the message: first its lookup tables, then its keys, then the addresses of the tables. */
export const transactionExecute = (
  { instruction }: SquadsInstructions,
  { multisig, index, member }: Pick<Acting, 'multisig' | 'index' | 'member'>,
  accounts: readonly Role[],
): TransactionInstruction =>
  instruction('transactionExecute', [
    [multisig, ''],
    [squadsProposalAddress(multisig, index), 'w'],
    [squadsTransactionAddress(multisig, index), ''],
    [member, 's'],
    ...accounts,
  ])

export const transactionClose = (
  { instruction }: SquadsInstructions,
  { multisig, index, rentCollector }: { multisig: string; index: bigint; rentCollector: string },
): TransactionInstruction =>
  instruction('transactionClose', [
    [multisig, ''],
    [squadsProposalAddress(multisig, index), 'w'],
    [squadsTransactionAddress(multisig, index), 'w'],
    [rentCollector, 'w'],
    [SYSTEM_PROGRAM, ''],
  ])
