/**
 * A program as a table: its instructions and accounts are written once, in the words of its IDL. Encoding, decoding,
 * offsets and descriptions follow from the rows.
 */
import type { ChainAccount } from '../accounts.ts'
import { addressBytes } from '../addresses.ts'
import { borshString } from '../borsh.ts'
import { ByteReader, ShortData } from '../byte-reader.ts'
import type { DecodedMessage } from '../decoded-message.ts'

/** What a field of each type is in TypeScript. Fields of other types are shown to people, and never read here. */
interface Values {
  u8: number
  u64: bigint
  pubkey: string
  string: string
}
type Type = keyof Values

const number =
  (size: 1 | 8) =>
  (value: number | bigint): Uint8Array => {
    const bytes = Buffer.alloc(size)
    if (size === 1) bytes.writeUInt8(Number(value))
    else bytes.writeBigUInt64LE(BigInt(value))
    return bytes
  }

const TYPES: { [T in Type]: { read(from: ByteReader): Values[T]; write(value: Values[T]): Uint8Array } } = {
  u8: { read: (from) => from.u8(), write: number(1) },
  u64: { read: (from) => from.u64(), write: number(8) },
  pubkey: { read: (from) => from.key(), write: addressBytes },
  string: { read: (from) => from.text(from.u32()), write: borshString },
}
/** Bytes of the types with a fixed length. */
const SIZES: Readonly<Record<string, number>> = { u8: 1, u64: 8, pubkey: 32 }

type Words<S extends string> = S extends '' ? never : S extends `${infer A} ${infer B}` ? A | Words<B> : S
type NameOf<W extends string> = W extends `${infer N}:${string}` ? N : W
type Readable<S extends string> = Extract<Words<S>, `${string}:${Type}`>
/** The addresses of `base:sw escrow:w mint`, by name. */
type Addresses<S extends string> = Record<NameOf<Words<S>>, string>
/** The values of `amount:u64 to:pubkey`, without fields of types that are not read. */
export type Fields<S extends string> = {
  [W in Readable<S> as NameOf<W>]: W extends `${string}:${infer T extends Type}` ? Values[T] : never
}

/**
 * First bytes in hex; accounts, with `:s` for one that signs and `:w` for one that is written; arguments as `name:type`,
 * whose types are those of `instructions/layout.ts`. An optional argument (`?T`) is never given.
 */
type InstructionRow = readonly [prefix: string, accounts: string, args: string]
/** First bytes in hex, fields, and the least size of the account in bytes. */
type AccountRow = readonly [prefix: string, fields: string, bytes: number]
/** First bytes in hex behind those of all events, and fields. */
type EventRow = readonly [prefix: string, fields: string]
/** First bytes of the call by which an Anchor program emits an event (anchor_lang, EVENT_IX_TAG). */
const EVENT = 'e445a52e51cb9a1d'

/** An instruction with the addresses of its accounts. */
export interface PlainInstruction {
  program: string
  accounts: { address: string; isSigner: boolean; isWritable: boolean }[]
  data: Uint8Array
}

interface Rows<T, A, E, F extends string> {
  instructions: T
  accounts: A
  events: E
  /** Accounts that have the same address in every call. */
  fixed: Record<F, string>
}

/**
 * A call of a program in a message; `place` is its place among the message's instructions. An account is missing if it
 * is in a lookup table that was not read, and `args` are null if the data ends early.
 */
interface Call<T extends Readonly<Record<string, InstructionRow>>, N extends keyof T> {
  name: N
  accounts: Partial<Addresses<T[N][1]>>
  args: Fields<T[N][2]> | null
  place: number
}
type AnyCall<T extends Readonly<Record<string, InstructionRow>>> = { [N in keyof T]: Call<T, N> }[keyof T]

const split = (words: string): [name: string, of: string][] =>
  words.split(' ').flatMap((word): [string, string][] => {
    if (word === '') return []
    const colon = word.indexOf(':')
    return [colon < 0 ? [word, ''] : [word.slice(0, colon), word.slice(colon + 1)]]
  })

/** The values before the first field of a type that is not read. Throws ShortData, also without a byte for that field. */
function readFields(fields: string, reader: ByteReader): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, type] of split(fields)) {
    if (Object.hasOwn(TYPES, type)) values[name] = TYPES[type as Type].read(reader)
    else if (type.startsWith('hex')) reader.take(Number(type.slice(3)))
    else {
      reader.take(1)
      break
    }
  }
  return values
}

const prefixOf = (data: Uint8Array) => Buffer.from(data.subarray(0, 8)).toString('hex')

/** Null where the data ends early or has a text that is none. */
function readOrNull<R>(read: () => R): R | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ShortData || error instanceof TypeError) return null
    throw error
  }
}

/** An Anchor program, whose instructions and accounts begin with eight bytes of their own. */
export function programTable<
  const T extends Readonly<Record<string, InstructionRow>>,
  const A extends Readonly<Record<string, AccountRow>>,
  const E extends Readonly<Record<string, EventRow>>,
  F extends string,
>(id: string, { instructions, accounts, events, fixed }: Rows<T, A, E, F>) {
  const byPrefix = new Map(Object.entries(instructions).map(([name, row]) => [row[0], { name, row }]))
  return {
    id,
    instruction<N extends keyof T & string>(
      name: N,
      own: Omit<Addresses<T[N][1]>, F>,
      args: Fields<T[N][2]>,
    ): PlainInstruction {
      const [prefix, roles, fields] = instructions[name] as InstructionRow
      const given: Readonly<Record<string, string>> = { ...fixed, ...own }
      const values = args as unknown as Readonly<Record<string, never>>
      const write = ([field, type]: [string, string]) =>
        type.startsWith('?') ? Buffer.of(0) : TYPES[type as Type].write(values[field] as never)
      return {
        program: id,
        accounts: split(roles).map(([role, flags]) => ({
          address: given[role] ?? '',
          isSigner: flags.includes('s'),
          isWritable: flags.includes('w'),
        })),
        data: Buffer.concat([Buffer.from(prefix, 'hex'), ...split(fields).map(write)]),
      }
    },

    /** The calls of these instructions in a message, whether or not they succeed. */
    callsIn({ keys, instructions: all }: Pick<DecodedMessage, 'keys' | 'instructions'>): AnyCall<T>[] {
      return all.flatMap(({ programIdIndex, accounts: indexes, data }, place): AnyCall<T>[] => {
        const found = keys[programIdIndex] === id ? byPrefix.get(prefixOf(data)) : undefined
        if (found === undefined) return []
        const [, roles, fields] = found.row
        const named = split(roles).map(([role], i) => [role, keys[indexes[i] ?? -1]] as const)
        const args = readOrNull(() => readFields(fields, new ByteReader(data, 8)))
        return [{ name: found.name, accounts: Object.fromEntries(named), args, place } as unknown as AnyCall<T>]
      })
    },

    /** Null for any account but this one of the program. */
    decode<N extends keyof A & string>(name: N, account: ChainAccount | null): Fields<A[N][1]> | null {
      const [prefix, fields, bytes] = accounts[name] as AccountRow
      if (account?.owner !== id || account.data.length < bytes || prefixOf(account.data) !== prefix) return null
      return readOrNull(() => readFields(fields, new ByteReader(account.data, 8)) as Fields<A[N][1]>)
    },

    /** Null for the data of anything but this event. */
    event<N extends keyof E & string>(name: N, data: Uint8Array): Fields<E[N][1]> | null {
      const [prefix, fields] = events[name] as EventRow
      if (Buffer.from(data.subarray(0, 16)).toString('hex') !== `${EVENT}${prefix}`) return null
      return readOrNull(() => readFields(fields, new ByteReader(data, 16)) as Fields<E[N][1]>)
    },

    /** Bytes before a field, as filters of getProgramAccounts count them. */
    offsetOf<N extends keyof A & string>(name: N, field: NameOf<Words<A[N][1]>>): number {
      const all = split((accounts[name] as AccountRow)[1])
      const before = all.slice(
        0,
        all.findIndex(([each]) => each === field),
      )
      return before.reduce((sum, [, type]) => sum + (SIZES[type] ?? Number(type.slice('hex'.length))), 8)
    },

    /** Name, accounts and arguments of each instruction by its first bytes, for its description. */
    descriptions: Object.fromEntries(
      Object.entries(instructions).map(([name, [prefix, roles, args]]) => [
        prefix,
        [
          name,
          split(roles)
            .map(([role]) => role)
            .join(' '),
          args,
        ] as const,
      ]),
    ),
  }
}
