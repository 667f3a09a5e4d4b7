/** Instructions of Squads v4 for a transaction of a multisig, whose accounts follow from its number. */
import { SQUADS } from '../../../solana/programs/squads.ts'
import type { PlainInstruction } from '../../../solana/programs/table.ts'
import {
  compactMessage,
  memberFields,
  type PinnedMessage,
  type SquadsMember,
  squadsProposalAddress,
  squadsTransactionAddress,
  transactionBufferAddress,
} from '../../../solana/squads/index.ts'

export const LARGEST_HEAP = 256 * 1024
/** Above either, the program needs more than the usual heap of 32 KiB. */
const USUAL_INSTRUCTIONS = 20
const USUAL_BYTES = 900

/** Whether the message is so large that storing and executing it needs the largest heap. */
export const needsHeap = (message: PinnedMessage): boolean =>
  message.instructions.length > USUAL_INSTRUCTIONS || compactMessage(message).length > USUAL_BYTES

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

export const multisigCreate = ({ multisig, creator, treasury, threshold, ...wish }: NewMultisig): PlainInstruction =>
  SQUADS.instruction(
    'multisig_create_v2',
    { treasury, multisig, create_key: wish.createKey, creator },
    {
      config_authority: wish.configAuthority,
      threshold,
      members: wish.members.map(memberFields),
      time_lock: wish.timeLock,
      rent_collector: wish.rentCollector,
    },
  )

/** A transaction of a multisig, the member that acts, and who pays for new accounts. */
export interface Acting {
  multisig: string
  index: bigint
  member: string
  rentPayer: string
}
type Deciding = Omit<Acting, 'rentPayer'>

/** A transaction of a multisig by its number, with its proposal. */
const placeOf = ({ multisig, index }: Pick<Acting, 'multisig' | 'index'>) => ({
  multisig,
  transaction: squadsTransactionAddress(multisig, index),
  proposal: squadsProposalAddress(multisig, index),
})

const creating = (acting: Acting) => ({ ...placeOf(acting), creator: acting.member, rent_payer: acting.rentPayer })

interface StoredTerms {
  vaultIndex: number
  ephemeralSigners: number
}

export const transactionCreate = (
  acting: Acting,
  { vaultIndex, ephemeralSigners, message }: StoredTerms & { message: Uint8Array },
): PlainInstruction =>
  SQUADS.instruction('vault_transaction_create', creating(acting), {
    vault_index: vaultIndex,
    ephemeral_signers: ephemeralSigners,
    transaction_message: message,
  })

/** In place of the message stand six zeros: the program takes the message from the buffer, and closes it. */
const PLACEHOLDER = new Uint8Array(6)

export const transactionCreateFromBuffer = (
  acting: Acting,
  { vaultIndex, ephemeralSigners, bufferIndex }: StoredTerms & { bufferIndex: number },
): PlainInstruction =>
  SQUADS.instruction(
    'vault_transaction_create_from_buffer',
    { ...creating(acting), ...bufferOf({ ...acting, bufferIndex }), buffer_creator: acting.member },
    { vault_index: vaultIndex, ephemeral_signers: ephemeralSigners, transaction_message: PLACEHOLDER },
  )

/** The proposal is open for votes at once. */
export const proposalCreate = (acting: Acting): PlainInstruction =>
  SQUADS.instruction('proposal_create', creating(acting), { transaction_index: acting.index, draft: false })

const VOTES = {
  approve: 'proposal_approve',
  reject: 'proposal_reject',
  cancel: 'proposal_cancel_v2',
} as const
export type SquadsVote = keyof typeof VOTES

export const vote = (kind: SquadsVote, deciding: Deciding): PlainInstruction =>
  SQUADS.instruction(VOTES[kind], { ...placeOf(deciding), member: deciding.member }, {})

interface OwnBuffer extends Pick<Acting, 'multisig' | 'member'> {
  bufferIndex: number
}

const bufferOf = ({ multisig, member, bufferIndex }: OwnBuffer) => ({
  multisig,
  creator: member,
  transaction_buffer: transactionBufferAddress(multisig, member, bufferIndex),
})

export const bufferCreate = (
  { rentPayer, ...buffer }: OwnBuffer & Pick<Acting, 'rentPayer'>,
  { vaultIndex, hash, size, chunk }: { vaultIndex: number; hash: Uint8Array; size: number; chunk: Uint8Array },
): PlainInstruction =>
  SQUADS.instruction(
    'transaction_buffer_create',
    { ...bufferOf(buffer), rent_payer: rentPayer },
    {
      buffer_index: buffer.bufferIndex,
      vault_index: vaultIndex,
      final_buffer_hash: hash,
      final_buffer_size: size,
      buffer: chunk,
    },
  )

export const bufferExtend = (buffer: OwnBuffer, chunk: Uint8Array): PlainInstruction =>
  SQUADS.instruction('transaction_buffer_extend', bufferOf(buffer), { buffer: chunk })

export const bufferClose = (buffer: OwnBuffer): PlainInstruction =>
  SQUADS.instruction('transaction_buffer_close', bufferOf(buffer), {})

/** `accounts` are those of the message: first its lookup tables, then its keys, then the addresses of the tables. */
export function transactionExecute(deciding: Deciding, accounts: PlainInstruction['accounts']): PlainInstruction {
  const own = { ...placeOf(deciding), member: deciding.member }
  const execute = SQUADS.instruction('vault_transaction_execute', own, {})
  return { ...execute, accounts: [...execute.accounts, ...accounts] }
}

export const transactionClose = ({
  rentCollector,
  ...place
}: Pick<Acting, 'multisig' | 'index'> & { rentCollector: string }): PlainInstruction =>
  SQUADS.instruction('vault_transaction_accounts_close', { ...placeOf(place), rent_collector: rentCollector }, {})
