/** Builds multisigs and proposals: in one transaction where the message fits, through a transaction buffer where not. */
import { createHash } from 'node:crypto'
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import {
  compactMessage,
  MAX_INDEX,
  multisigAddress,
  type PinnedMessage,
  type SquadsMember,
  squadsProposalAddress,
  squadsTransactionAddress,
  transactionBufferAddress,
} from '../../../solana/squads/index.ts'
import {
  compileAnySize,
  compileUnsigned,
  type Envelope,
  roomOf,
  type UnsignedTransaction,
} from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import {
  type Acting,
  bufferCreate,
  bufferExtend,
  LARGEST_HEAP,
  multisigCreate,
  needsHeap,
  proposalCreate,
  transactionCreate,
  transactionCreateFromBuffer,
  vote,
} from './program.ts'
import { checked } from './reading.ts'

/** Most bytes of a message that a buffer can hold. */
export const MOST_MESSAGE_BYTES = 10_128
/** The longest time lock that the program takes: 90 days, in seconds. */
const MOST_TIME_LOCK = 90 * 86_400
/** Compute limits of transactions that cannot be simulated: half more than the largest run used. */
export const CREATION_UNITS = 400_000
export const VOTE_UNITS = 60_000

interface MultisigCreation extends Envelope {
  /** A new key, which signs once; the multisig's address is derived from it. */
  createKey: string
  /** Who signs and pays the rent; the payer unless given. */
  creator?: string
  /** From `readSquadsSettings`. */
  treasury: string
  threshold: number
  /** Seconds between approval and execution; 0 unless given. */
  timeLock?: number
  members: readonly SquadsMember[]
  /** Who may change the multisig without its members' approval; nobody unless given. */
  configAuthority?: string | null
  /** Who receives the rent of closed proposals. Without it they cannot be closed. */
  rentCollector?: string | null
}

/** Throws bad_request for rules that the program refuses. */
export async function buildMultisigCreation(
  wish: MultisigCreation,
): Promise<UnsignedTransaction & { multisig: string }> {
  const { members, threshold, timeLock = 0, createKey, creator = wish.payer } = wish
  const voters = members.filter(({ vote: votes }) => votes).length
  if (threshold < 1 || threshold > voters) {
    throw badRequest(`threshold must be 1 to ${voters}, the number of members who may vote, not ${threshold}`, {
      param: 'threshold',
    })
  }
  const missing = (['initiate', 'execute'] as const).find((right) => !members.some((member) => member[right]))
  if (missing !== undefined)
    throw badRequest(`members: at least one must have the right to ${missing}`, { param: 'members' })
  const twice = members.find(({ address }, i) => members.findIndex((other) => other.address === address) !== i)
  if (twice !== undefined) throw badRequest(`members: ${twice.address} is listed twice`, { param: 'members' })
  if (timeLock < 0 || timeLock > MOST_TIME_LOCK) {
    throw badRequest(`time_lock must be 0 to ${MOST_TIME_LOCK} seconds (90 days)`, { param: 'time_lock' })
  }
  const multisig = multisigAddress(createKey)
  const { configAuthority = null, rentCollector = null, treasury } = wish
  const terms = { multisig, createKey, creator, treasury, threshold, timeLock, members, configAuthority, rentCollector }
  const sdk = await sdkInstructions()
  const built = await compileUnsigned(wish, [sdk(multisigCreate(terms))])
  return { ...built, multisig }
}

export interface ProposalCreation extends Envelope {
  multisig: string
  vaultIndex: number
  /** Index of the new transaction: that of the multisig plus 1. */
  index: bigint
  /** Signs, and may initiate. */
  member: string
  /** Pays the rent; the member unless given. */
  rentPayer?: string
  inner: PinnedMessage
  /** Number of ephemeral signers that the message uses. */
  ephemeralSigners: number
  /** Whether the member, who may vote, approves at once. */
  approve: boolean
  /** Index of a buffer that is free, if one is needed; 0 unless given. */
  bufferIndex?: number
}

export interface BuiltProposal {
  /** To be sent in this order, each after the one before it is confirmed. Most proposals are one. */
  transactions: UnsignedTransaction[]
  transaction: string
  proposal: string
  /** Address of the buffer that the transactions fill and close; null if the message fits in one. */
  buffer: string | null
  /** Bytes of the message in the form that the program takes. */
  messageBytes: number
}

/**
 * The envelope's instructions before are in every transaction, those after in the last. Throws bad_request for a message
 * that is larger than a buffer, or that uses an ephemeral signer of another transaction.
 */
export async function buildProposalCreation(wish: ProposalCreation): Promise<BuiltProposal> {
  const { multisig, index, member, inner, vaultIndex, ephemeralSigners, approve, bufferIndex = 0 } = wish
  const message = checked(() => compactMessage(inner), 'instructions')
  if (message.length > MOST_MESSAGE_BYTES) {
    throw badRequest(
      `The proposal has ${message.length.toLocaleString('en')} bytes; Squads stores at most ${MOST_MESSAGE_BYTES.toLocaleString('en')}: split it into several`,
    )
  }
  if (ephemeralSigners < 0 || ephemeralSigners > MAX_INDEX)
    throw badRequest('A proposal has at most 255 ephemeral signers')
  const sdk = await sdkInstructions()
  const acting = { multisig, index, member, rentPayer: wish.rentPayer ?? member }
  const after = [proposalCreate(acting), ...(approve ? [vote('approve', acting)] : [])].map(sdk)
  const terms = { vaultIndex, ephemeralSigners }
  const addresses = {
    transaction: squadsTransactionAddress(multisig, index),
    proposal: squadsProposalAddress(multisig, index),
    messageBytes: message.length,
  }
  const heaped = await withHeap(wish, inner)
  const direct = await compileAnySize(heaped.envelope, [
    ...heaped.first,
    sdk(transactionCreate(acting, { ...terms, message })),
    ...after,
  ])
  if (direct.transaction.length <= roomOf(wish)) return { ...addresses, transactions: [direct], buffer: null }

  const { after: _, ...early } = wish
  const chunks = await bufferChunks(early, { acting, vaultIndex, bufferIndex, message })
  const last = await compileUnsigned(heaped.envelope, [
    ...heaped.first,
    sdk(transactionCreateFromBuffer(acting, { ...terms, bufferIndex })),
    ...after,
  ])
  const buffer = transactionBufferAddress(multisig, member, bufferIndex)
  return { ...addresses, transactions: [...chunks, last], buffer }
}

/** The envelope and the first instructions of a transaction that stores or executes the message. */
export async function withHeap<T extends Envelope>(
  envelope: T,
  message: PinnedMessage,
): Promise<{ envelope: T; first: TransactionInstruction[] }> {
  if (!needsHeap(message)) return { envelope, first: [] }
  const { messageConfig } = envelope
  if (messageConfig === undefined) {
    const { ComputeBudgetProgram } = await import('@solana/web3.js')
    return { envelope, first: [ComputeBudgetProgram.requestHeapFrame({ bytes: LARGEST_HEAP })] }
  }
  return { envelope: { ...envelope, messageConfig: { ...messageConfig, heapSize: LARGEST_HEAP } }, first: [] }
}

interface Buffered {
  acting: Acting
  vaultIndex: number
  bufferIndex: number
  message: Uint8Array
}

/** A chunk whose length takes as many bytes as that of every larger one. */
const PROBE = new Uint8Array(200)

/** The transactions that fill the buffer: one creates it, the others extend it. */
async function bufferChunks(
  envelope: Envelope,
  { acting, vaultIndex, bufferIndex, message }: Buffered,
): Promise<UnsignedTransaction[]> {
  const buffer = { ...acting, bufferIndex }
  const hash = createHash('sha256').update(message).digest()
  const sdk = await sdkInstructions()
  const first = (chunk: Uint8Array) => [sdk(bufferCreate(buffer, { vaultIndex, hash, size: message.length, chunk }))]
  const next = (chunk: Uint8Array) => [sdk(bufferExtend(buffer, chunk))]
  const [firstRoom, nextRoom] = await Promise.all(
    [first(PROBE), next(PROBE)].map(async (instructions) => {
      const { transaction } = await compileAnySize(envelope, instructions)
      return roomOf(envelope) - transaction.length + PROBE.length
    }),
  )
  const built: UnsignedTransaction[] = []
  for (let at = 0; at < message.length; ) {
    // Each is a byte shorter than the one before: with equal bytes, two would be the same transaction, which lands once.
    const room = Math.max(PROBE.length, at === 0 ? (firstRoom ?? 0) : (nextRoom ?? 0) - built.length + 1)
    const chunk = message.subarray(at, at + room)
    built.push(await compileUnsigned(envelope, at === 0 ? first(chunk) : next(chunk)))
    at += chunk.length
  }
  return built
}
