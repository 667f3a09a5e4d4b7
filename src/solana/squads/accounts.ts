/** Decodes the accounts of Squads v4: the multisig, its proposals, the stored transactions and the program's settings. */
import type { ChainAccount } from '../accounts.ts'
import { addressBytes } from '../addresses.ts'
import { ByteReader, ShortData } from '../byte-reader.ts'
import { SYSTEM_PROGRAM } from '../program-ids.ts'
import { PROGRAMS } from '../programs.ts'
import {
  findEphemeralSigner,
  findProposal,
  findTransaction,
  findVault,
  squadsProposalAddress,
  squadsTransactionAddress,
} from './addresses.ts'
import { SquadsFault } from './fault.ts'
import { readStoredMessage, type SquadsMessage, storedMessage } from './message.ts'

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

const SQUADS_STATUSES = ['draft', 'active', 'rejected', 'approved', 'executing', 'executed', 'cancelled'] as const
type SquadsStatus = (typeof SQUADS_STATUSES)[number]

export interface ProposalAccount {
  address: string
  multisig: string
  index: bigint
  status: SquadsStatus
  /** Members by how they voted. */
  approved: string[]
  rejected: string[]
  cancelled: string[]
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

/** First eight bytes of the accounts, in hex. */
const KINDS = {
  multisig: 'e07479ba44a14fec',
  proposal: '1a5ebdbb74883521',
  vaultTransaction: 'a8faa264510ea2cf',
  configTransaction: '5e080423718b8b70',
  batch: '9cc2462c1658892c',
  buffer: '5a2423db5de16e60',
  settings: 'c4d25ae790958c3f',
} as const
type Kind = keyof typeof KINDS

const NAMES: Readonly<Record<Kind, string>> = {
  multisig: 'a multisig',
  proposal: 'a proposal',
  vaultTransaction: 'a vault transaction',
  configTransaction: 'a change of the members or rules of a multisig',
  batch: 'a batch of transactions',
  buffer: 'a transaction buffer',
  settings: 'the settings of the program',
}
const MEMBER_BYTES = 33
/** Bits of a member's permissions. */
const [INITIATE, VOTE, EXECUTE] = [1, 2, 4]

/** Whether an account of Squads that begins with these eight bytes, in hex, is a multisig. */
export const isMultisigStart = (start: string): boolean => start === KINDS.multisig

/** Throws SquadsFault for any other account. */
export function decodeMultisig(address: string, account: ChainAccount): Multisig {
  return decoded(address, account, 'multisig', (reader) => {
    reader.take(32)
    const configAuthority = reader.key()
    const [threshold, timeLock] = [reader.u16(), reader.u32()]
    const [transactionIndex, staleTransactionIndex] = [reader.u64(), reader.u64()]
    const rentCollector = reader.bool() ? reader.key() : null
    reader.u8()
    const members = list(reader, MEMBER_BYTES, () => {
      const member = reader.key()
      const mask = reader.u8()
      const has = (bit: number) => (mask & bit) !== 0
      return { address: member, initiate: has(INITIATE), vote: has(VOTE), execute: has(EXECUTE) }
    })
    if (members.length === 0 || threshold === 0) throw new SquadsFault(`${address} is a multisig without members`)
    return {
      address,
      threshold,
      timeLock,
      transactionIndex,
      staleTransactionIndex,
      members,
      configAuthority: configAuthority === SYSTEM_PROGRAM ? null : configAuthority,
      rentCollector,
    }
  })
}

/** Throws SquadsFault for any other account, also for the proposal of another multisig or index. */
export function decodeProposal(account: ChainAccount, multisig: string, index: bigint): ProposalAccount {
  const address = squadsProposalAddress(multisig, index)
  return decoded(address, account, 'proposal', (reader) => {
    requireOwn(address, { multisig, index }, { multisig: reader.key(), index: reader.u64() })
    const status = SQUADS_STATUSES[reader.u8()]
    if (status === undefined) throw new SquadsFault(`${address} is a proposal of an unknown state`)
    const timestamp = status === 'executing' ? null : reader.i64()
    reader.u8()
    const voters = () => list(reader, 32, () => reader.key())
    return { address, multisig, index, status, timestamp, approved: voters(), rejected: voters(), cancelled: voters() }
  })
}

/** Throws SquadsFault for any other account, also for the transaction of another multisig or index. */
export function decodeVaultTransaction(account: ChainAccount, multisig: string, index: bigint): VaultTransaction {
  const address = squadsTransactionAddress(multisig, index)
  return decoded(address, account, 'vaultTransaction', (reader) => {
    const own = reader.key()
    const creator = reader.key()
    requireOwn(address, { multisig, index }, { multisig: own, index: reader.u64() })
    reader.u8()
    const vaultIndex = reader.u8()
    reader.u8()
    const ephemeralSigners = list(reader, 1, () => reader.u8()).length
    const message = readStoredMessage(reader.take(reader.left))
    return { address, multisig, creator, index, vaultIndex, ephemeralSigners, message }
  })
}

/** Throws SquadsFault for any other account. */
export function decodeSquadsSettings(address: string, account: ChainAccount): SquadsSettings {
  return decoded(address, account, 'settings', (reader) => {
    reader.take(32)
    return { creationFee: reader.u64(), treasury: reader.key() }
  })
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
  return decoded(address, account, 'buffer', (reader) => {
    reader.take(32)
    const creator = reader.key()
    reader.take(2)
    const hash = Buffer.from(reader.take(32)).toString('hex')
    return { creator, hash, size: reader.u16(), written: reader.u32() }
  })
}

function decoded<T>(address: string, { owner, data }: ChainAccount, kind: Kind, read: (reader: ByteReader) => T): T {
  if (owner !== PROGRAMS.squads.id)
    throw new SquadsFault(`${address} is not ${NAMES[kind]} of Squads v4: ${owner} owns it`)
  const prefix = Buffer.from(data.subarray(0, 8)).toString('hex')
  if (prefix !== KINDS[kind]) {
    const other = (Object.keys(KINDS) as Kind[]).find((each) => KINDS[each] === prefix)
    const found = other === undefined ? 'an account of another kind' : NAMES[other]
    throw new SquadsFault(`${address} is ${found}, not ${NAMES[kind]}`)
  }
  try {
    return read(new ByteReader(data, 8))
  } catch (error) {
    if (error instanceof ShortData) throw new SquadsFault(`${address} is shorter than ${NAMES[kind]} of Squads v4`)
    throw error
  }
}

/** Reads the number of entries, of `size` bytes each, and then the entries. */
function list<T>(reader: ByteReader, size: number, read: () => T): T[] {
  const count = reader.u32()
  if (count * size > reader.left) throw new ShortData()
  return Array.from({ length: count }, read)
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
export function approvedProposal(multisig: string, index: bigint, approvers: readonly string[]): Uint8Array {
  const head = Buffer.alloc(8 + 32 + 8 + 1 + 8 + 1 + 4)
  head.write(KINDS.proposal, 'hex')
  head.set(addressBytes(multisig), 8)
  head.writeBigUInt64LE(index, 40)
  head.writeUInt8(SQUADS_STATUSES.indexOf('approved'), 48)
  head.writeUInt8(findProposal(multisig, index).bump, 57)
  head.writeUInt32LE(approvers.length, 58)
  return new Uint8Array(Buffer.concat([head, ...approvers.map(addressBytes), Buffer.alloc(8)]))
}

/** The account of a vault transaction as the program would write it. */
export function vaultTransactionData(transaction: Omit<VaultTransaction, 'address'>): Uint8Array {
  const { multisig, creator, index, vaultIndex, ephemeralSigners, message } = transaction
  const { address, bump } = findTransaction(multisig, index)
  const head = Buffer.alloc(8 + 32 + 32 + 8 + 3 + 4)
  head.write(KINDS.vaultTransaction, 'hex')
  head.set(addressBytes(multisig), 8)
  head.set(addressBytes(creator), 40)
  head.writeBigUInt64LE(index, 72)
  for (const [i, byte] of [bump, vaultIndex, findVault(multisig, vaultIndex).bump].entries()) head[80 + i] = byte
  head.writeUInt32LE(ephemeralSigners, 83)
  const bumps = Array.from({ length: ephemeralSigners }, (_, i) => findEphemeralSigner(address, i).bump)
  return new Uint8Array(Buffer.concat([head, Buffer.from(bumps), storedMessage(message)]))
}
