/** Compares the transactions that propose to a multisig with the acts that they should store, byte by byte, without the API. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { sdkInstructions } from '../../../src/chain/programs/sdk-instruction.ts'
import { LARGEST_LIMITS } from '../../../src/chain/programs/squads/deciding.ts'
import { innerInstructions } from '../../../src/chain/programs/squads/execution-rehearsal.ts'
import {
  type Acting,
  bufferCreate,
  bufferExtend,
  proposalCreate,
  transactionCreate,
  transactionCreateFromBuffer,
} from '../../../src/chain/programs/squads/program.ts'
import { withBlockhash } from '../../../src/chain/sending/cosign.ts'
import { decodeTransaction } from '../../../src/chain/sending/transactions.ts'
import { compileAnySize, compileUnsigned } from '../../../src/chain/sending/unsigned.ts'
import { ApiError } from '../../../src/platform/errors.ts'
import { MAX_TRANSACTION_BYTES } from '../../../src/solana/constants.ts'
import { guardsOfMessage, withGuards } from '../../../src/solana/guards.ts'
import { type DecodedTransaction, messageBytesOf } from '../../../src/solana/messages.ts'
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../../../src/solana/program-ids.ts'
import { SQUADS } from '../../../src/solana/programs/squads.ts'
import type { PlainInstruction } from '../../../src/solana/programs/table.ts'
import {
  compactMessage,
  ephemeralSignersOf,
  innerMessageOf,
  MOST_NEW_ACCOUNTS,
  namedPlaces,
  type PinnedMessage,
  SquadsFault,
} from '../../../src/solana/squads/index.ts'
import type { ProposedActs } from '../../signing/wallet.ts'

/** The program stores nothing larger, and a chunk of a buffer has some hundred bytes. */
const MOST_CHUNKS = 64

class Difference extends Error {
  override readonly name = 'Difference'
}

/** Returns null if they store exactly these acts at these places, or says what differs. */
export async function proposalDifference(asked: ProposedActs): Promise<string | null> {
  try {
    let rest = asked.creations.map((text) => decodeTransaction(text))
    for (const [i, act] of asked.acts.entries()) {
      const index = BigInt(asked.index) + BigInt(i)
      rest = await withoutProposal(rest, { ...asked, index, inner: innerOf(act, asked) })
    }
    if (rest.length > 0) throw new Difference(`it has ${rest.length} more transactions than the proposal needs`)
    return null
  } catch (error) {
    if (error instanceof Difference) return error.message
    if (error instanceof SquadsFault) return `the vault cannot execute it: ${error.message}`
    throw error
  }
}

/** The vault's message, base58, as Squads' app imports it: of version 0 and of any size, with an empty blockhash. */
export async function vaultMessage(asked: Pick<ProposedActs, 'multisig' | 'vault' | 'index'>, act: string) {
  if (usesTables(act)) {
    const timeless = withBlockhash(Buffer.from(act, 'base64'), SYSTEM_PROGRAM)
    return base58.encode(Uint8Array.from(messageBytesOf(timeless)))
  }
  const envelope = { payer: asked.vault, recentBlockhash: SYSTEM_PROGRAM }
  const built = await compileAnySize(envelope, await innerInstructions(innerOf(act, asked)))
  return base58.encode(Uint8Array.from(messageBytesOf(built.transaction)))
}

const usesTables = (act: string): boolean => decodeTransaction(act).message.lookups.length > 0

/**
 * Throws SquadsFault for what the vault cannot execute. Returns the act as it was built if it has no room for the
 * member, or if it has lookup tables and names the member itself.
 */
export async function actPaidBy(asked: Place, act: string, member: string): Promise<string> {
  if (usesTables(act)) return withPayer(act, member)
  const { version } = decodeTransaction(act).message
  const envelope = { payer: member, recentBlockhash: SYSTEM_PROGRAM }
  const messageConfig = { ...LARGEST_LIMITS, heapSize: null, priorityFeeLamports: 0n }
  try {
    const instructions = await innerInstructions(innerOf(act, asked))
    const built = await compileUnsigned({ ...envelope, ...(version === 1 ? { messageConfig } : {}) }, instructions)
    return Buffer.from(built.transaction).toString('base64')
  } catch (error) {
    if (error instanceof ApiError) return act
    throw error
  }
}

/** The transaction of version 0 with another payer before its accounts, whose places move by one. */
async function withPayer(act: string, member: string): Promise<string> {
  const { MessageV0, PublicKey, VersionedTransaction } = await import('@solana/web3.js')
  const { message } = VersionedTransaction.deserialize(Buffer.from(act, 'base64'))
  const payer = new PublicKey(member)
  const { header, staticAccountKeys, recentBlockhash, compiledInstructions, addressTableLookups } = message
  if (staticAccountKeys.some((key) => key.equals(payer))) return act
  const moved = compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    programIdIndex: programIdIndex + 1,
    accountKeyIndexes: accountKeyIndexes.map((place) => place + 1),
    data,
  }))
  const paid = new MessageV0({
    header: { ...header, numRequiredSignatures: header.numRequiredSignatures + 1 },
    staticAccountKeys: [payer, ...staticAccountKeys],
    recentBlockhash,
    compiledInstructions: moved,
    addressTableLookups,
  })
  const transaction = Buffer.from(new VersionedTransaction(paid).serialize())
  return transaction.length > MAX_TRANSACTION_BYTES ? act : transaction.toString('base64')
}

type Place = Pick<ProposedActs, 'multisig' | 'vault' | 'index'>

/** What the vault executes. Its new accounts have the addresses that follow from the multisig and the first number. */
function innerOf(act: string, { multisig, vault, index }: Place): PinnedMessage {
  const decoded = decodeTransaction(act)
  const ephemeral = ephemeralSignersOf(multisig, BigInt(index), MOST_NEW_ACCOUNTS)
  // The proposal stores the places in the tables, and the caller has shown what they are.
  return innerMessageOf(decoded, { vault, ephemeral, loaded: namedPlaces(decoded.message) })
}

interface Expected extends Pick<ProposedActs, 'multisig' | 'vaultIndex' | 'member'> {
  index: bigint
  inner: PinnedMessage
}

/** Returns the transactions after those of this proposal. */
async function withoutProposal(creations: DecodedTransaction[], expected: Expected): Promise<DecodedTransaction[]> {
  const { multisig, vaultIndex, member, index, inner } = expected
  const acting: Acting = { multisig, index, member, rentPayer: member }
  const message = compactMessage(inner)
  // Beside the vault, only its new accounts sign.
  const stored = { vaultIndex, ephemeralSigners: inner.signers - 1 }
  const [first, ...others] = creations
  if (first === undefined) throw new Difference('it lacks the transaction that stores the act')
  const chunk = firstCall(first, 'transaction_buffer_create')
  if (chunk === null) {
    const made = [transactionCreate(acting, { ...stored, message }), proposalCreate(acting)]
    await requireSame(first, member, made)
    return others
  }
  const { buffer_index: bufferIndex } = chunk
  const hash = createHash('sha256').update(message).digest()
  const buffer = { ...acting, bufferIndex }
  let written = message.subarray(0, chunk.buffer.length)
  const opening = bufferCreate(buffer, { vaultIndex, hash, size: message.length, chunk: written })
  await requireSame(first, member, [opening])
  let rest = others
  for (let i = 0; written.length < message.length && i < MOST_CHUNKS; i++) {
    const [next, ...after] = rest
    const length = next === undefined ? 0 : (firstCall(next, 'transaction_buffer_extend')?.buffer.length ?? 0)
    if (next === undefined || length === 0) throw new Difference('it stores only a part of the act')
    const part = message.subarray(written.length, written.length + length)
    await requireSame(next, member, [bufferExtend(buffer, part)])
    written = message.subarray(0, written.length + part.length)
    rest = after
  }
  const [last, ...after] = rest
  if (last === undefined) throw new Difference('it lacks the transaction that makes the proposal')
  const made = [transactionCreateFromBuffer(acting, { ...stored, bufferIndex }), proposalCreate(acting)]
  await requireSame(last, member, made)
  return after
}

type SquadsCall = ReturnType<typeof SQUADS.callsIn>[number]

/** The first call of Squads, if it has this name. */
function firstCall<N extends SquadsCall['name']>({ message }: DecodedTransaction, name: N) {
  const [call] = SQUADS.callsIn(message)
  if (call?.name !== name) return null
  if (call.args === null) throw new Difference('an instruction of its buffer is cut short')
  return call.args as NonNullable<Extract<SquadsCall, { name: N }>['args']>
}

/** The transaction with these instructions after its own compute limits, and with its own guards, must be the same one. */
async function requireSame(found: DecodedTransaction, member: string, made: readonly PlainInstruction[]) {
  const { message } = found
  const { keys, instructions, recentBlockhash, config } = message
  if (keys[0] !== member) throw new Difference(`${keys[0]} would pay for the proposal, not ${member}`)
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  const before = instructions
    .filter(({ programIdIndex }) => keys[programIdIndex] === COMPUTE_BUDGET_PROGRAM)
    .map(
      ({ data }) =>
        new TransactionInstruction({
          programId: new PublicKey(COMPUTE_BUDGET_PROGRAM),
          keys: [],
          data: Buffer.from(data),
        }),
    )
  const envelope = { payer: member, recentBlockhash, before, messageConfig: config ?? undefined }
  const { transaction } = await compileAnySize(envelope, made.map(await sdkInstructions()))
  const expected = withGuards(transaction, guardsOfMessage(message).guards)
  if (Buffer.from(messageBytesOf(expected)).equals(found.messageBytes)) return
  throw new Difference('its transactions do not store exactly this act at this number of this multisig')
}
