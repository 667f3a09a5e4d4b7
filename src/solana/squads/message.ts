/**
 * The message of a vault transaction, as Squads v4 takes and stores it: signers first, then writable accounts, then all
 * others.
 */
import { ByteReader, ShortData } from '../byte-reader.ts'
import type { CompiledInstruction, DecodedMessage, TableLookup } from '../decoded-message.ts'
import { type LoadedAddresses, loadedCount } from '../lookup-tables.ts'
import { SYSTEM_PROGRAM } from '../program-ids.ts'
import { fieldType } from '../programs/field-types.ts'
import { COMPACT_MESSAGE, SQUADS, STORED_MESSAGE } from '../programs/squads.ts'

/** Bytes that are not what they should be, or a message that a vault cannot execute. `message` is a sentence. */
export class SquadsFault extends Error {
  override readonly name = 'SquadsFault'
}

export interface SquadsMessage {
  /** The first keys sign: the vault, ephemeral signers, and whoever signs the execution too. */
  signers: number
  /** The first signers are writable. */
  writableSigners: number
  /** The first of the other keys are writable. */
  writableOthers: number
  keys: string[]
  instructions: CompiledInstruction[]
  lookups: TableLookup[]
}

/** A message with the addresses that its lookup tables had when they were read: the chain stores only their places. */
export interface PinnedMessage extends SquadsMessage {
  loaded: LoadedAddresses
}

export const NOTHING_LOADED: LoadedAddresses = { writable: [], readonly: [] }

/** Most keys, instructions, accounts of an instruction, and places in a table: each is counted in a byte. */
const MOST = 255
const MOST_DATA = 0xffff
/** More than a message can have: a buffer has at most 10,128 bytes. */
const MOST_BYTES = 20_000

const COMPACT = fieldType(COMPACT_MESSAGE)
const STORED = fieldType(STORED_MESSAGE)

/** The bytes that the instruction which creates a transaction takes. Throws SquadsFault for more than it can count. */
export function compactMessage(message: SquadsMessage): Uint8Array {
  requireCounts(message)
  return COMPACT.write(message)
}

/** The bytes that the account of the transaction holds. */
export const storedMessage = (message: SquadsMessage): Uint8Array => STORED.write(message)

/** Reads the argument of an instruction. Throws SquadsFault. */
export const readCompactMessage = (bytes: Uint8Array): SquadsMessage => decode(bytes, COMPACT)

/** Reads the end of the account of a transaction. Throws SquadsFault. */
export const readStoredMessage = (bytes: Uint8Array): SquadsMessage => decode(bytes, STORED)

function requireCounts({ keys, instructions, lookups }: SquadsMessage): void {
  const counts: [number, number, string][] = [
    [keys.length, MOST, 'accounts'],
    [instructions.length, MOST, 'instructions'],
    [Math.max(0, ...instructions.map(({ accounts }) => accounts.length)), MOST, 'accounts in one instruction'],
    [Math.max(0, ...instructions.map(({ data }) => data.length)), MOST_DATA, 'bytes of data in one instruction'],
    [lookups.length, MOST, 'lookup tables'],
  ]
  for (const [count, most, what] of counts) {
    if (count > most) throw new SquadsFault(`A vault transaction has at most ${most} ${what}, not ${count}`)
  }
}

function decode(bytes: Uint8Array, type: typeof STORED): SquadsMessage {
  if (bytes.length > MOST_BYTES) throw unreadable(`it has ${bytes.length} bytes, more than the program stores`)
  const reader = new ByteReader(Uint8Array.from(bytes))
  try {
    const message = type.read(reader) as SquadsMessage
    if (reader.left > 0) throw unreadable(`${reader.left} bytes follow its end`)
    return withPlaces(message)
  } catch (error) {
    if (error instanceof ShortData) throw unreadable('it ends before its last part')
    throw error
  }
}

/** The message after the checks of the program itself (`TransactionMessage::try_from`). Throws SquadsFault. */
export function withPlaces(message: SquadsMessage): SquadsMessage {
  const { signers, writableSigners, writableOthers, keys, instructions } = message
  if (signers === 0 || signers > keys.length)
    throw unreadable(`it counts ${signers} signers of ${keys.length} accounts`)
  if (writableSigners > signers) throw unreadable('it counts more writable signers than signers')
  if (writableOthers > keys.length - signers) throw unreadable('it counts more writable accounts than accounts')
  const accounts = keys.length + loadedCount(message)
  for (const [i, { programIdIndex, accounts: places }] of instructions.entries()) {
    if (programIdIndex >= accounts) throw unreadable(`the program of instruction ${i + 1} is not one of its accounts`)
    if (places.some((place) => place >= accounts)) {
      throw unreadable(`instruction ${i + 1} uses an account that is not in its list`)
    }
  }
  return message
}

const unreadable = (why: string) => new SquadsFault(`The message of the vault transaction cannot be read: ${why}`)

/** Addresses in the order of the instructions' places: the message's own, then writable and other ones of tables. */
export const addressesOf = ({ keys, loaded }: PinnedMessage): string[] => [
  ...keys,
  ...loaded.writable,
  ...loaded.readonly,
]

/** Whether the account at a place is writable. */
export function isWritablePlace(message: PinnedMessage, place: number): boolean {
  const { signers, writableSigners, writableOthers, keys, loaded } = message
  if (place < signers) return place < writableSigners
  if (place < keys.length) return place - signers < writableOthers
  return place < keys.length + loaded.writable.length
}

/** Only the chain knows the addresses of lookup tables, so each is named as `TABLE[place]`. */
export function namedPlaces({ lookups }: Pick<SquadsMessage, 'lookups'>): LoadedAddresses {
  const named = (kind: 'writable' | 'readonly') =>
    lookups.flatMap(({ table, ...places }) => [...places[kind]].map((place) => `${table}[${place}]`))
  return { writable: named('writable'), readonly: named('readonly') }
}

/** Addresses of lookup tables by the place that names each: `TABLE[place]`. */
export type PlaceAddresses = ReadonlyMap<string, string>

/** The addresses of a message's tables by their places. */
export function placeAddresses(message: Pick<SquadsMessage, 'lookups'>, loaded: LoadedAddresses): PlaceAddresses {
  const named = namedPlaces(message)
  const pairs = (kind: 'writable' | 'readonly') =>
    named[kind].map((place, i) => [place, loaded[kind][i] ?? place] as const)
  return new Map([...pairs('writable'), ...pairs('readonly')])
}

/** The addresses of a message's tables, each as its place if that is not among `places`. */
export function loadedPlaces(message: Pick<SquadsMessage, 'lookups'>, places: PlaceAddresses): LoadedAddresses {
  const { writable, readonly } = namedPlaces(message)
  const at = (place: string) => places.get(place) ?? place
  return { writable: writable.map(at), readonly: readonly.map(at) }
}

/** Adds the addresses that the tables had. Throws SquadsFault if they are not as many as the message takes. */
export function pinMessage(message: SquadsMessage, loaded: LoadedAddresses): PinnedMessage {
  const counts = [loaded.writable.length, loaded.readonly.length]
  const wanted = (['writable', 'readonly'] as const).map((kind) =>
    message.lookups.reduce((sum, lookup) => sum + lookup[kind].length, 0),
  )
  if (counts.some((count, i) => count !== wanted[i])) {
    throw new SquadsFault('The message takes addresses from lookup tables that were not read')
  }
  return { ...message, loaded }
}

/**
 * The message as one of version 0 whose accounts are all its own, so that what reads messages can read it. Its blockhash
 * is 32 zeros: a vault transaction has none.
 */
export function unwrapMessage(message: PinnedMessage): DecodedMessage {
  const { signers, writableSigners, keys, instructions } = message
  const all = addressesOf(message)
  const others = all.map((_, place) => place).slice(signers)
  const writable = others.filter((place) => isWritablePlace(message, place))
  const readonly = others.filter((place) => !isWritablePlace(message, place))
  const order = [...keys.slice(0, signers).keys(), ...writable, ...readonly]
  const placeOf = new Map(order.map((old, place) => [old, place]))
  const moved = (place: number) => placeOf.get(place) ?? 0
  return {
    version: 0,
    signers,
    readonlySigners: signers - writableSigners,
    readonlyOthers: readonly.length,
    keys: order.map((place) => all[place] ?? ''),
    recentBlockhash: SYSTEM_PROGRAM,
    blockhashOffset: 0,
    instructions: instructions.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex: moved(programIdIndex),
      accounts: accounts.map(moved),
      data,
    })),
    lookups: [],
    config: null,
  }
}

/** The stored transactions that a message executes. */
export const executedTransactions = (message: Pick<DecodedMessage, 'keys' | 'instructions'>): string[] =>
  SQUADS.callsIn(message).flatMap((call) =>
    call.name === 'vault_transaction_execute' ? (call.accounts.transaction ?? []) : [],
  )

/** The message that an instruction proposes to a vault; null for any other instruction, and for one that is unreadable. */
export function proposedMessage(program: string, data: Uint8Array): SquadsMessage | null {
  const call = SQUADS.callOf(program, [], data)
  if (call?.name !== 'vault_transaction_create' || call.known.transaction_message === undefined) return null
  try {
    return readCompactMessage(call.known.transaction_message)
  } catch (error) {
    if (error instanceof SquadsFault) return null
    throw error
  }
}
