/**
 * A program as a table: its instructions and accounts are written once, in the words of its IDL. Encoding, decoding,
 * offsets and descriptions follow from the rows.
 */
import type { ChainAccount } from '../accounts.ts'
import { ByteReader, ShortData } from '../byte-reader.ts'
import { bytesOfHex, hexOf, joinBytes } from '../bytes.ts'
import type { DecodedMessage } from '../decoded-message.ts'
import { fieldType, type ValueOf, type Variant } from './field-types.ts'

type Words<S extends string, Found extends string = never> = S extends ''
  ? Found
  : S extends `${infer A} ${infer B}`
    ? Words<B, Found | A>
    : Found | S
type NameOf<W extends string> = W extends `${infer N}:${string}` ? N : W
type Optional<W extends string> = W extends `${string}:${string}o` ? W : never
type Several<W extends string> = W extends `${string}:${string}*${string}` ? W : never
type AddressOf<W extends string> = W extends Several<W> ? readonly string[] : string
/** The addresses of `base:sw escrow:w mint collection:o`, by name, to write them. */
type Addresses<S extends string> = {
  [W in Exclude<Words<S>, Optional<Words<S>>> as NameOf<W>]: AddressOf<W>
} & { [W in Optional<Words<S>> as NameOf<W>]?: string | null | undefined }
/** The addresses that were read: null for one that is left out. */
type Found<S extends string> = {
  [W in Words<S> as NameOf<W>]?: W extends Optional<W> ? string | null : AddressOf<W>
}
/** The values of `amount:u64 to:pubkey`. */
export type Fields<S extends string> = {
  [W in Words<S> as NameOf<W>]: W extends `${string}:${infer T}` ? ValueOf<T> : never
}
type OptionalName<W extends string> = W extends `${infer N}:${infer T}` ? (T extends `?${string}` ? N : never) : never
/** The values to write: those of optional fields need not be given. */
type Given<S extends string> = Omit<Fields<S>, OptionalName<Words<S>>> &
  Partial<Pick<Fields<S>, OptionalName<Words<S>>>>

/**
 * First bytes in hex (`00|none` if no data means the same); accounts, with `:s` for one that signs, `:w` for one that is
 * written, `:o` for one that may be left out (the program's own address then stands in its place) and `:*` for several,
 * of which `:*count` are as many of the last ones as that argument says; arguments as `name:type`, see `field-types.ts`.
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

type CountOf<W extends string> = W extends `${string}:${string}*${infer Count}` ? Count : never
type FlatFields<S extends string, Count extends string> = {
  [N in Exclude<keyof Fields<S>, Count>]: Fields<S>[N] extends Variant ? string : Fields<S>[N]
}
/** A call as one record: its name, its accounts and its arguments, all of which are there. */
export type FlatCall<T extends Readonly<Record<string, InstructionRow>>> = {
  [N in keyof T]: { type: N } & Addresses<T[N][1]> & FlatFields<T[N][2], CountOf<Words<T[N][1]>>>
}[keyof T]

const split = (words: string): [name: string, of: string][] =>
  words.split(' ').flatMap((word): [string, string][] => {
    if (word === '') return []
    const colon = word.indexOf(':')
    return [colon < 0 ? [word, ''] : [word.slice(0, colon), word.slice(colon + 1)]]
  })

interface Role {
  name: string
  isSigner: boolean
  isWritable: boolean
  isOptional: boolean
  isList: boolean
  /** The argument that counts the accounts of a list at the end. */
  count: string
}

const knownRoles = new Map<string, readonly Role[]>()

function rolesIn(text: string): readonly Role[] {
  const roles = knownRoles.get(text) ?? split(text).map(roleOf)
  knownRoles.set(text, roles)
  return roles
}

function roleOf([name, of]: readonly [name: string, of: string]): Role {
  const [flags = '', count] = of.split('*')
  const has = (flag: string) => flags.includes(flag)
  const isList = count !== undefined
  return { name, isSigner: has('s'), isWritable: has('w'), isOptional: has('o'), isList, count: count ?? '' }
}

/** The role of each of `count` accounts by its place; null for those after the last role. */
export function rolesOf(text: string, count: number, args: Readonly<Record<string, unknown>>): (Role | null)[] {
  const roles = rolesIn(text)
  const last = roles.at(-1)?.count
  const before = count - (last ? Number(args[last] ?? 0) : 0)
  const places: Role[] = []
  for (const role of roles) {
    const end = !role.isList ? places.length + 1 : role.count ? count : before
    while (places.length < end) places.push(role)
  }
  return Array.from({ length: count }, (_, i) => places[i] ?? null)
}

/** Lengths of the first bytes by which instructions are known. */
const PREFIX_SIZES: readonly number[] = [8, 4, 2, 1, 0]

/** Finds by the first bytes in hex, as many as are known, or by `none` if there are no bytes. */
export function byFirstBytes<R>(
  find: (prefix: string) => R | undefined,
  data: Uint8Array,
  sizes = PREFIX_SIZES,
): { row: R; size: number } | null {
  const empty = data.length === 0 ? find('none') : undefined
  if (empty !== undefined) return { row: empty, size: 0 }
  for (const size of sizes) {
    const row = size > data.length ? undefined : find(hexOf(data.subarray(0, size)))
    if (row !== undefined) return { row, size }
  }
  return null
}

const prefixesIn = (text: string) => text.split('|')
const firstPrefix = (text: string) => prefixesIn(text)[0] ?? ''

type Field = readonly [name: string, type: ReturnType<typeof fieldType>]
const knownFields = new Map<string, readonly Field[]>()

function fieldsIn(text: string): readonly Field[] {
  const fields = knownFields.get(text) ?? split(text).map(([name, type]) => [name, fieldType(type)] as const)
  knownFields.set(text, fields)
  return fields
}

/** The values up to the first that cannot be read: the data ends early, or has a text or a byte that is none. */
function readFields(fields: string, reader: ByteReader): { values: Record<string, unknown>; isWhole: boolean } {
  const values: Record<string, unknown> = {}
  try {
    for (const [name, type] of fieldsIn(fields)) values[name] = type.read(reader)
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

const isVariant = (value: unknown): value is Variant => typeof value === 'object' && value !== null && 'name' in value

/** A program whose instructions and accounts begin with bytes of their own: eight with Anchor, one with Metaplex. */
export function programTable<
  const T extends Readonly<Record<string, InstructionRow>>,
  const A extends Readonly<Record<string, AccountRow>>,
  const E extends Readonly<Record<string, EventRow>>,
  F extends string = never,
>(id: string, { instructions, accounts, events, fixed }: Rows<T, A, E, F>) {
  const byPrefix = new Map(
    Object.entries(instructions).flatMap(([name, row]) =>
      prefixesIn(row[0]).map((prefix) => [prefix, { name: name as keyof T & string, row }] as const),
    ),
  )
  const sizes = PREFIX_SIZES.filter((size) => [...byPrefix.keys()].some((prefix) => prefix.length === 2 * size))
  const rowOf = (data: Uint8Array) => byFirstBytes((prefix) => byPrefix.get(prefix), data, sizes)
  const accountRow = (name: string) => (accounts as Readonly<Record<string, AccountRow>>)[name] as AccountRow
  const written = (prefix: string, fields: string, values: Readonly<Record<string, unknown>>): Uint8Array =>
    joinBytes([bytesOfHex(prefix), ...fieldsIn(fields).map(([name, type]) => type.write(values[name]))])

  /** The data of an instruction. */
  function data<N extends keyof T & string>(name: N, args: Given<T[N][2]>): Uint8Array {
    const [prefix, , fields] = instructions[name] as InstructionRow
    return written(firstPrefix(prefix), fields, args)
  }

  /** The call by the program, the addresses of its accounts and its data; null for anything but these instructions. */
  function callOf(
    program: string | undefined,
    addresses: readonly (string | undefined)[],
    bytes: Uint8Array,
    place = 0,
  ) {
    const found = program === id ? rowOf(bytes) : null
    if (found === null) return null
    const { size, row } = found
    const [, roles, fields] = row.row
    const { values: known, isWhole } = readFields(fields, new ByteReader(bytes, size))
    const named: Record<string, unknown> = {}
    for (const { name, isList, isOptional } of rolesIn(roles)) {
      if (isList) named[name] = []
      else if (isOptional) named[name] = null
    }
    for (const [i, role] of rolesOf(roles, addresses.length, known).entries()) {
      if (role?.isList) (named[role.name] as unknown[]).push(addresses[i])
      else if (role && !(role.isOptional && addresses[i] === id)) named[role.name] = addresses[i]
    }
    return { name: row.name, accounts: named, args: isWhole ? known : null, known, place } as unknown as AnyCall<T>
  }

  /** The call as one record; null if it lacks an account or an argument, or is of none of these instructions. */
  function flatCall(program: string, addresses: readonly string[], bytes: Uint8Array): FlatCall<T> | null {
    const call = callOf(program, addresses, bytes)
    if (call === null || call.args === null) return null
    const flat: Record<string, unknown> = { type: call.name }
    const counts: string[] = []
    const accounts: Readonly<Record<string, unknown>> = call.accounts
    const args: Readonly<Record<string, unknown>> = call.args
    for (const { name, count } of rolesIn((instructions[call.name] as InstructionRow)[1])) {
      const found = accounts[name]
      if (found === undefined || (count !== '' && (found as unknown[]).length !== args[count])) return null
      if (found !== null) flat[name] = found
      counts.push(count)
    }
    for (const [name, value] of Object.entries(args)) {
      if (!counts.includes(name)) flat[name] = isVariant(value) ? value.name : value
    }
    return flat as FlatCall<T>
  }

  type Account = Pick<ChainAccount, 'owner' | 'data'>
  function is(name: keyof A & string, account: Account | null | undefined): boolean {
    const [prefix, , bytes = 0] = accountRow(name)
    if (account?.owner !== id || account.data.length < bytes) return false
    return hexOf(account.data.subarray(0, prefix.length / 2)) === prefix
  }

  function offsetOf(name: string, field: string): number {
    const [prefix, fields] = accountRow(name)
    let offset = prefix.length / 2
    for (const [each, { size }] of fieldsIn(fields)) {
      if (each === field) return offset
      if (size === null) break
      offset += size
    }
    throw new Error(`${field} has no place of its own in ${name}`)
  }

  /** Bytes of the account, whose fields have one size each. */
  function sizeOf(name: keyof A & string): number {
    const [prefix, fields] = accountRow(name)
    return fieldsIn(fields).reduce((sum, [, { size }]) => sum + (size ?? Number.NaN), prefix.length / 2)
  }

  return {
    id,
    rows: { instructions, accounts: (accounts ?? {}) as A, events: (events ?? {}) as E },
    data,
    callOf,
    flatCall,

    instruction<N extends keyof T & string>(
      name: N,
      own: Omit<Addresses<T[N][1]>, F>,
      args: Given<T[N][2]>,
    ): PlainInstruction {
      const [, roles] = instructions[name] as InstructionRow
      const given = { ...fixed, ...own } as Readonly<Record<string, string | readonly string[] | null | undefined>>
      return {
        program: id,
        accounts: rolesIn(roles).flatMap(({ name: role, isOptional, isSigner, isWritable }) => {
          const addresses = given[role]
          if (isOptional && !addresses) return [{ address: id, isSigner: false, isWritable: false }]
          return [addresses ?? ''].flat().map((address) => ({ address, isSigner, isWritable }))
        }),
        data: data(name, args),
      }
    },

    /** The instruction whose first bytes the data has; null for data of none of these. */
    nameOf: (data: Uint8Array): (keyof T & string) | null => rowOf(data)?.row.name ?? null,

    /** The arguments in the data of this instruction; null for other data, and for data that goes on behind them. */
    argsOf<N extends keyof T & string>(name: N, data: Uint8Array): Fields<T[N][2]> | null {
      const [prefix, , fields] = instructions[name] as InstructionRow
      return readAfter(firstPrefix(prefix), fields, data, { wholly: true }) as Fields<T[N][2]> | null
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
      names.map((name) => firstPrefix((instructions[name] as InstructionRow)[0])),

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
    offsetOf: <N extends keyof A & string>(name: N, field: NameOf<Words<A[N][1]>>): number => offsetOf(name, field),

    sizeOf,

    /** Filters of getProgramAccounts for this account with these addresses in its fields; one without a value is any. */
    filtersOf<N extends keyof A & string>(
      name: N,
      addresses: { readonly [F in NameOf<Words<A[N][1]>>]?: string | undefined },
    ): object[] {
      const fields = Object.entries<string | undefined>(addresses)
      return [
        { dataSize: accountRow(name)[2] ?? sizeOf(name) },
        ...fields.flatMap(([field, bytes]) =>
          bytes === undefined ? [] : [{ memcmp: { offset: offsetOf(name, field), bytes } }],
        ),
      ]
    },

    /** Name, accounts and arguments of each instruction by its first bytes, for its description. */
    layout: {
      table: Object.fromEntries(
        Array.from(byPrefix, ([prefix, { name, row }]) => [prefix, [name, row[1], row[2]] as const]),
      ),
    },
  }
}
