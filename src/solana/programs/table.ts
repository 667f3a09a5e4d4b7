/**
 * A program as a table: its instructions and accounts are written once, in the words of its IDL. Encoding, decoding,
 * offsets and descriptions follow from the rows.
 */
import type { ChainAccount } from '../accounts.ts'
import { ByteReader, ShortData } from '../byte-reader.ts'
import { bytesOfHex, hexOf, joinBytes } from '../bytes.ts'
import type { DecodedMessage } from '../decoded-message.ts'
import { fieldType, type ValueOf } from './field-types.ts'

type Words<S extends string, Found extends string = never> = S extends ''
  ? Found
  : S extends `${infer A} ${infer B}`
    ? Words<B, Found | A>
    : Found | S
type NameOf<W extends string> = W extends `${infer N}:${string}` ? N : W
type Optional<W extends string> = W extends `${string}:${string}o` ? W : never
/** The addresses of `base:sw escrow:w mint collection:o`, by name, to write them. */
type Addresses<S extends string> = Record<NameOf<Exclude<Words<S>, Optional<Words<S>>>>, string> & {
  [W in Optional<Words<S>> as NameOf<W>]?: string | null | undefined
}
/** The addresses that were read: null for one that is left out. */
type Found<S extends string> = { [W in Words<S> as NameOf<W>]?: W extends Optional<W> ? string | null : string }
/** The values of `amount:u64 to:pubkey`. */
export type Fields<S extends string> = {
  [W in Words<S> as NameOf<W>]: W extends `${string}:${infer T}` ? ValueOf<T> : never
}
type OptionalName<W extends string> = W extends `${infer N}:${infer T}` ? (T extends `?${string}` ? N : never) : never
/** The values to write: those of optional fields need not be given. */
type Given<S extends string> = Omit<Fields<S>, OptionalName<Words<S>>> &
  Partial<Pick<Fields<S>, OptionalName<Words<S>>>>

/**
 * First bytes in hex; accounts, with `:s` for one that signs, `:w` for one that is written and `:o` for one that may be
 * left out (the program's own address then stands in its place); arguments as `name:type`, see `field-types.ts`.
 */
export type InstructionRow = readonly [prefix: string, accounts: string, args: string]
/** First bytes in hex, fields, and the least size of the account in bytes if it has more than its fields. */
type AccountRow = readonly [prefix: string, fields: string, bytes?: number]
/** First bytes in hex behind those of all events, and fields. */
type EventRow = readonly [prefix: string, fields: string]
/** First bytes of the call by which an Anchor program emits an event (anchor_lang, EVENT_IX_TAG). */
const EVENT = 'e445a52e51cb9a1d'

/** Whether a program of Anchor emits an event with this call to itself. */
export const isEvent = (data: Uint8Array): boolean => hexOf(data.subarray(0, EVENT.length / 2)) === EVENT

/** An instruction with the addresses of its accounts. */
export interface PlainInstruction {
  program: string
  accounts: { address: string; isSigner: boolean; isWritable: boolean }[]
  data: Uint8Array
}

interface Rows<T, A, E, F extends string> {
  /** All have first bytes of one length. */
  instructions: T
  accounts?: A
  events?: E
  /** Accounts that have the same address in every call. */
  fixed?: Record<F, string>
}

/**
 * A call of a program in a message; `place` is its place among the message's instructions. An account is missing if it
 * is in a lookup table that was not read. If an argument cannot be read, `args` are null, and `known` has those before.
 */
interface Call<T extends Readonly<Record<string, InstructionRow>>, N extends keyof T> {
  name: N
  accounts: Found<T[N][1]>
  args: Fields<T[N][2]> | null
  known: Partial<Fields<T[N][2]>>
  place: number
}
/** The instructions of a message, and the addresses by their places. */
type CalledMessage = Pick<DecodedMessage, 'instructions'> & { readonly keys: readonly string[] }
type AnyCall<T extends Readonly<Record<string, InstructionRow>>> = { [N in keyof T]: Call<T, N> }[keyof T]

const split = (words: string): [name: string, of: string][] =>
  words.split(' ').flatMap((word): [string, string][] => {
    if (word === '') return []
    const colon = word.indexOf(':')
    return [colon < 0 ? [word, ''] : [word.slice(0, colon), word.slice(colon + 1)]]
  })

/** The values up to the first that cannot be read: the data ends early, or has a text or a byte that is none. */
function readFields(fields: string, reader: ByteReader): { values: Record<string, unknown>; isWhole: boolean } {
  const values: Record<string, unknown> = {}
  try {
    for (const [name, type] of split(fields)) values[name] = fieldType(type).read(reader)
  } catch (error) {
    if (error instanceof ShortData || error instanceof TypeError) return { values, isWhole: false }
    throw error
  }
  return { values, isWhole: true }
}

/** Null for data that does not begin with these bytes, cannot be read, or is not read `wholly`. */
function readAfter(
  prefix: string,
  fields: string,
  data: Uint8Array,
  { wholly = false } = {},
): Record<string, unknown> | null {
  const size = prefix.length / 2
  if (hexOf(data.subarray(0, size)) !== prefix) return null
  const reader = new ByteReader(data, size)
  const { values, isWhole } = readFields(fields, reader)
  return isWhole && (!wholly || reader.left === 0) ? values : null
}

/** A program whose instructions and accounts begin with bytes of their own: eight with Anchor, one with Metaplex. */
export function programTable<
  const T extends Readonly<Record<string, InstructionRow>>,
  const A extends Readonly<Record<string, AccountRow>>,
  const E extends Readonly<Record<string, EventRow>>,
  F extends string = never,
>(id: string, { instructions, accounts, events, fixed }: Rows<T, A, E, F>) {
  const byPrefix = new Map(
    Object.entries(instructions).map(([name, row]) => [row[0], { name: name as keyof T & string, row }]),
  )
  const prefixBytes = (Object.values(instructions)[0]?.[0] ?? '').length / 2
  const accountRow = (name: string) => (accounts as Readonly<Record<string, AccountRow>>)[name] as AccountRow
  const written = (prefix: string, fields: string, values: Readonly<Record<string, unknown>>): Uint8Array =>
    joinBytes([bytesOfHex(prefix), ...split(fields).map(([name, type]) => fieldType(type).write(values[name]))])

  /** The data of an instruction. */
  function data<N extends keyof T & string>(name: N, args: Given<T[N][2]>): Uint8Array {
    const [prefix, , fields] = instructions[name] as InstructionRow
    return written(prefix, fields, args)
  }

  /** The call by the program, the addresses of its accounts and its data; null for anything but these instructions. */
  function callOf(
    program: string | undefined,
    addresses: readonly (string | undefined)[],
    bytes: Uint8Array,
    place = 0,
  ) {
    const found = program === id ? byPrefix.get(hexOf(bytes.subarray(0, prefixBytes))) : undefined
    if (found === undefined) return null
    const [, roles, fields] = found.row
    const named = split(roles).map(([role, flags], i) => {
      const isLeftOut = flags.includes('o') && (i >= addresses.length || addresses[i] === id)
      return [role, isLeftOut ? null : addresses[i]] as const
    })
    const { values: known, isWhole } = readFields(fields, new ByteReader(bytes, prefixBytes))
    const args = isWhole ? known : null
    return { name: found.name, accounts: Object.fromEntries(named), args, known, place } as unknown as AnyCall<T>
  }

  type Account = Pick<ChainAccount, 'owner' | 'data'>
  function is(name: keyof A & string, account: Account | null | undefined): boolean {
    const [prefix, , bytes = 0] = accountRow(name)
    if (account?.owner !== id || account.data.length < bytes) return false
    return hexOf(account.data.subarray(0, prefix.length / 2)) === prefix
  }

  return {
    id,
    rows: { instructions, accounts: (accounts ?? {}) as A, events: (events ?? {}) as E },
    data,
    callOf,

    instruction<N extends keyof T & string>(
      name: N,
      own: Omit<Addresses<T[N][1]>, F>,
      args: Given<T[N][2]>,
    ): PlainInstruction {
      const [, roles] = instructions[name] as InstructionRow
      const given: Readonly<Record<string, string | null | undefined>> = { ...fixed, ...own }
      return {
        program: id,
        accounts: split(roles).map(([role, flags]) => {
          const address = given[role]
          if (flags.includes('o') && !address) return { address: id, isSigner: false, isWritable: false }
          return { address: address ?? '', isSigner: flags.includes('s'), isWritable: flags.includes('w') }
        }),
        data: data(name, args),
      }
    },

    /** The instruction whose first bytes the data has; null for data of none of these. */
    nameOf: (data: Uint8Array): (keyof T & string) | null =>
      byPrefix.get(hexOf(data.subarray(0, prefixBytes)))?.name ?? null,

    /** The arguments in the data of this instruction; null for other data, and for data that goes on behind them. */
    argsOf<N extends keyof T & string>(name: N, data: Uint8Array): Fields<T[N][2]> | null {
      const [prefix, , fields] = instructions[name] as InstructionRow
      return readAfter(prefix, fields, data, { wholly: true }) as Fields<T[N][2]> | null
    },

    /** The calls of these instructions in a message, whether or not they succeed. */
    callsIn({ keys, instructions: all }: CalledMessage): AnyCall<T>[] {
      const addressAt = (index: number) => keys[index]
      return all.flatMap(
        ({ programIdIndex, accounts: indexes, data: bytes }, place) =>
          callOf(addressAt(programIdIndex), Array.from(indexes, addressAt), bytes, place) ?? [],
      )
    },

    /** The first bytes of instructions in hex. */
    prefixesOf: (...names: readonly (keyof T & string)[]): string[] =>
      names.map((name) => (instructions[name] as InstructionRow)[0]),

    /** The kind of account that begins with these bytes, in hex; null for any other beginning. */
    accountKind: (start: string) =>
      (Object.keys(accounts ?? {}).find((name) => accountRow(name)[0] === start) ?? null) as (keyof A & string) | null,

    /** The data of an account as the program would write it. */
    accountData<N extends keyof A & string>(name: N, values: Fields<A[N][1]>): Uint8Array {
      const [prefix, fields] = accountRow(name)
      return written(prefix, fields, values)
    },

    /** Whether the account is this one of the program, by its owner, its size and its first bytes. */
    is,

    /** Null for any account but this one of the program. */
    decode<N extends keyof A & string>(name: N, account: Account | null | undefined): Fields<A[N][1]> | null {
      const [prefix, fields] = accountRow(name)
      return account && is(name, account) ? (readAfter(prefix, fields, account.data) as Fields<A[N][1]> | null) : null
    },

    /** Null for the data of anything but this event. */
    event<N extends keyof E & string>(name: N, data: Uint8Array): Fields<E[N][1]> | null {
      const [prefix, fields] = (events as E)[name] as EventRow
      return readAfter(`${EVENT}${prefix}`, fields, data) as Fields<E[N][1]> | null
    },

    /** The bytes with which this account begins, for filters of getProgramAccounts. */
    firstBytesOf: (name: keyof A & string): Uint8Array => bytesOfHex(accountRow(name)[0]),

    /** Bytes before a field, as filters of getProgramAccounts count them. */
    offsetOf<N extends keyof A & string>(name: N, field: NameOf<Words<A[N][1]>>): number {
      const [prefix, fields] = accountRow(name)
      let offset = prefix.length / 2
      for (const [each, type] of split(fields)) {
        if (each === field) return offset
        const { size } = fieldType(type)
        if (size === null) break
        offset += size
      }
      throw new Error(`${field} has no place of its own in ${name}`)
    },

    /** Bytes of the account, whose fields have one size each. */
    sizeOf(name: keyof A & string): number {
      const [prefix, fields] = accountRow(name)
      return split(fields).reduce((sum, [, type]) => sum + (fieldType(type).size ?? Number.NaN), prefix.length / 2)
    },

    /** Name, accounts and arguments of each instruction by its first bytes, for its description. */
    layout: {
      prefixBytes,
      table: Object.fromEntries(
        Object.entries(instructions).map(([name, [prefix, ...row]]) => [prefix, [name, ...row] as const]),
      ),
    },
  }
}
