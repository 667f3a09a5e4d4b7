/** Decodes the accounts of Squads v4: the multisig, its proposals, the stored transactions and the program's settings. */
import type { ChainAccount } from '../accounts.ts'
import { hexOf } from '../bytes.ts'
import { SYSTEM_PROGRAM } from '../program-ids.ts'
import { RIGHTS, SQUADS } from '../programs/squads.ts'
import {
  findEphemeralSigner,
  findProposal,
  findTransaction,
  findVault,
  squadsProposalAddress,
  squadsTransactionAddress,
} from './addresses.ts'
import { SquadsFault, type SquadsMessage, withPlaces } from './message.ts'

export interface SquadsMember {
  address: string
  /** May create transactions and proposals. */
  initiate: boolean
  /** May approve, reject and cancel. */
  vote: boolean
  execute: boolean
}

export interface Multisig {
  address: string
  /** Approvals that a proposal needs. */
  threshold: number
  /** Seconds between approval and execution. */
  timeLock: number
  /** Index of the latest transaction; 0 before the first. */
  transactionIndex: bigint
  /** Proposals up to this index that were not approved before a change of the multisig can no longer be approved. */
  staleTransactionIndex: bigint
  members: SquadsMember[]
  /** Who may change members and rules without a proposal; null if nobody may. */
  configAuthority: string | null
  /** Who receives the rent of closed proposals; null if they cannot be closed. */
  rentCollector: string | null
}

type SquadsStatus = 'draft' | 'active' | 'rejected' | 'approved' | 'executing' | 'executed' | 'cancelled'

export interface ProposalAccount {
  address: string
  multisig: string
  index: bigint
  status: SquadsStatus
  /** Members by how they voted. */
  approved: readonly string[]
  rejected: readonly string[]
  cancelled: readonly string[]
  /** Unix seconds since which it has this status; null while it executes. */
  timestamp: bigint | null
}

export interface VaultTransaction {
  address: string
  multisig: string
  creator: string
  index: bigint
  vaultIndex: number
  /** Number of ephemeral signers. */
  ephemeralSigners: number
  message: SquadsMessage
}

/** Settings of the program for everybody. */
export interface SquadsSettings {
  /** Lamports that the creation of a multisig costs beside its rent. */
  creationFee: bigint
  treasury: string
}

type Kind = NonNullable<ReturnType<typeof SQUADS.accountKind>>

const NAMES: Readonly<Record<Kind, string>> = {
  multisig: 'a multisig',
  proposal: 'a proposal',
  vault_transaction: 'a vault transaction',
  config_transaction: 'a change of the members or rules of a multisig',
  batch: 'a batch of transactions',
  transaction_buffer: 'a transaction buffer',
  program_config: 'the settings of the program',
}
const KIND_BYTES = 8

/** A member as accounts and instructions have it. */
interface MemberFields {
  key: string
  permissions: { mask: number }
}
export const memberFields = ({ address, initiate, vote, execute }: SquadsMember): MemberFields => ({
  key: address,
  permissions: { mask: (initiate ? RIGHTS.initiate : 0) | (vote ? RIGHTS.vote : 0) | (execute ? RIGHTS.execute : 0) },
})

/** Throws SquadsFault for any other account. */
export function decodeMultisig(address: string, account: ChainAccount): Multisig {
  const fields = decoded(address, account, 'multisig')
  const { threshold, config_authority } = fields
  const members = (fields.members as readonly MemberFields[]).map(({ key, permissions: { mask } }) => {
    const has = (bit: number) => (mask & bit) !== 0
    return { address: key, initiate: has(RIGHTS.initiate), vote: has(RIGHTS.vote), execute: has(RIGHTS.execute) }
  })
  if (members.length === 0 || threshold === 0) throw new SquadsFault(`${address} is a multisig without members`)
  return {
    address,
    threshold,
    timeLock: fields.time_lock,
    transactionIndex: fields.transaction_index,
    staleTransactionIndex: fields.stale_transaction_index,
    members,
    configAuthority: config_authority === SYSTEM_PROGRAM ? null : config_authority,
    rentCollector: fields.rent_collector,
  }
}

/** Throws SquadsFault for any other account, also for the proposal of another multisig or index. */
export function decodeProposal(account: ChainAccount, multisig: string, index: bigint): ProposalAccount {
  const address = squadsProposalAddress(multisig, index)
  const { status, approved, rejected, cancelled, ...place } = decoded(address, account, 'proposal')
  requireOwn(address, { multisig, index }, { multisig: place.multisig, index: place.transaction_index })
  const timestamp = (status.value as { timestamp: bigint } | null)?.timestamp ?? null
  return {
    address,
    multisig,
    index,
    status: status.name.toLowerCase() as SquadsStatus,
    timestamp,
    approved,
    rejected,
    cancelled,
  }
}

/** Throws SquadsFault for any other account, also for the transaction of another multisig or index. */
export function decodeVaultTransaction(account: ChainAccount, multisig: string, index: bigint): VaultTransaction {
  const address = squadsTransactionAddress(multisig, index)
  const { creator, message, ...fields } = decoded(address, account, 'vault_transaction')
  requireOwn(address, { multisig, index }, fields)
  return {
    address,
    multisig,
    creator,
    index,
    vaultIndex: fields.vault_index,
    ephemeralSigners: fields.ephemeral_signer_bumps.length,
    message: withPlaces(message as SquadsMessage),
  }
}

/** Throws SquadsFault for any other account. */
export function decodeSquadsSettings(address: string, account: ChainAccount): SquadsSettings {
  const { multisig_creation_fee, treasury } = decoded(address, account, 'program_config')
  return { creationFee: multisig_creation_fee, treasury }
}

export interface TransactionBuffer {
  creator: string
  /** SHA-256 of the whole message, hex, and its bytes. */
  hash: string
  size: number
  /** Bytes that are there so far. */
  written: number
}

/** Throws SquadsFault for any other account. */
export function decodeTransactionBuffer(address: string, account: ChainAccount): TransactionBuffer {
  const { creator, final_buffer_hash, final_buffer_size, buffer } = decoded(address, account, 'transaction_buffer')
  return { creator, hash: hexOf(final_buffer_hash), size: final_buffer_size, written: buffer.length }
}

function decoded<K extends Kind>(address: string, account: ChainAccount, kind: K) {
  const name = NAMES[kind]
  if (account.owner !== SQUADS.id) {
    throw new SquadsFault(`${address} is not ${name} of Squads v4: ${account.owner} owns it`)
  }
  const found = SQUADS.accountKind(hexOf(account.data.subarray(0, KIND_BYTES)))
  if (found !== kind) {
    throw new SquadsFault(`${address} is ${found === null ? 'an account of another kind' : NAMES[found]}, not ${name}`)
  }
  // The parts of what is read outlive the account's data.
  const fields = SQUADS.decode(kind, { ...account, data: Uint8Array.from(account.data) })
  if (fields === null) throw new SquadsFault(`${address} cannot be read as ${name} of Squads v4`)
  return fields
}

interface Belonging {
  multisig: string
  index: bigint
}

function requireOwn(address: string, wanted: Belonging, found: Belonging): void {
  if (found.multisig === wanted.multisig && found.index === wanted.index) return
  throw new SquadsFault(
    `${address} says that it is number ${found.index} of ${found.multisig} instead of number ${wanted.index} of ${wanted.multisig}`,
  )
}

/** The account of an approved proposal as the program would write it; trials put it on a copy of the chain. */
export const approvedProposal = (multisig: string, index: bigint, approved: readonly string[]): Uint8Array =>
  SQUADS.accountData('proposal', {
    multisig,
    transaction_index: index,
    status: { name: 'Approved', value: { timestamp: 0n } },
    bump: findProposal(multisig, index).bump,
    approved,
    rejected: [],
    cancelled: [],
  })

/** The account of a vault transaction as the program would write it. */
export function vaultTransactionData(transaction: Omit<VaultTransaction, 'address'>): Uint8Array {
  const { multisig, creator, index, vaultIndex, ephemeralSigners, message } = transaction
  const { address, bump } = findTransaction(multisig, index)
  return SQUADS.accountData('vault_transaction', {
    multisig,
    creator,
    index,
    bump,
    vault_index: vaultIndex,
    vault_bump: findVault(multisig, vaultIndex).bump,
    ephemeral_signer_bumps: Uint8Array.from(
      { length: ephemeralSigners },
      (_, i) => findEphemeralSigner(address, i).bump,
    ),
    message,
  })
}
