/**
 * Types of the fields in a program's table: how their values are read, written and shown. A type is one of `SCALARS`,
 * `?T` (optional), `??T` (optional, of one length: four bytes, then always a value), `*T` (a list), `*8T`, `*64T` and
 * `*leb128T` (a list whose length takes one byte, eight, or as many as it needs), `**T` (as many as there are),
 * `{name:T,name:T}` (fields), `(T,T)`, `<Name,NameT>` (one of several, each alone or with fields), or `hexN` (N bytes).
 */
import { addressBytes } from '../addresses.ts'
import { type ByteReader, ShortData } from '../byte-reader.ts'
import { compactLength, hexOf, joinBytes, utf8 } from '../bytes.ts'

/** One of several: its name, and its fields by name or in their order; null without fields. */
export interface Variant {
  name: string
  value: unknown
}

/** What a scalar of each type is in TypeScript. */
interface Scalars {
  u8: number
  i8: number
  u16: number
  i16: number
  u32: number
  i32: number
  u64: bigint
  u128: bigint
  i64: bigint
  i128: bigint
  uleb128: number
  f64: string
  bool: boolean
  string: string
  string64: string
  text: string
  bytes: Uint8Array
  bytes8: Uint8Array
  bytes16: Uint8Array
  bytes64: Uint8Array
  bytes_leb128: Uint8Array
  pubkey: string
  pubkey_or_zeros: string | null
  bytes_as_they_are: never
}

/** What a value of a type is in TypeScript. Fields within a value are not typed. */
export type ValueOf<T extends string> = T extends keyof Scalars
  ? Scalars[T]
  : T extends `?${infer Some}`
    ? ValueOf<Some extends `?${infer Value}` ? Value : Some> | null
    : T extends `*${infer Each}`
      ? readonly ValueOf<Each extends `${'*' | 8 | 64 | 'leb128'}${infer Item}` ? Item : Each>[]
      : T extends `hex${string}`
        ? Uint8Array
        : T extends `<${string}`
          ? Variant
          : unknown

interface FieldType<V> {
  /** Bytes of every value; null if values differ in length. */
  size: number | null
  /** Throws ShortData where the data ends early or has a byte that stands for nothing, TypeError for a text that is none. */
  read(from: ByteReader): V
  write(value: V): Uint8Array
  /** The value as people see it within another one. */
  show(value: V): string
}
type AnyType = FieldType<unknown>

/** Throws RangeError for a number that does not fit. */
function littleEndian(number: number | bigint, size: number, isSigned = false): Uint8Array {
  const value = BigInt(number)
  const fitting = isSigned ? BigInt.asIntN(8 * size, value) : BigInt.asUintN(8 * size, value)
  if (fitting !== value) throw new RangeError(`${value} does not fit into ${size} bytes`)
  return Uint8Array.from({ length: size }, (_, i) => Number(BigInt.asUintN(8, value >> BigInt(8 * i))))
}

const whole = <V extends number | bigint>(
  size: number,
  read: (from: ByteReader) => V,
  isSigned = false,
): FieldType<V> => ({ size, read, write: (value) => littleEndian(value, size, isSigned), show: String })

/** Bytes of a length. */
type LengthSize = 1 | 2 | 4 | 8 | 'leb128'
const LENGTHS: Readonly<Record<LengthSize, (from: ByteReader) => number>> = {
  1: (from) => from.u8(),
  2: (from) => from.u16(),
  4: (from) => from.u32(),
  8: (from) => Number(from.u64()),
  leb128: unsignedLeb128,
}

const writeLength = (length: number, size: LengthSize): Uint8Array =>
  size === 'leb128' ? Uint8Array.from(compactLength(length)) : littleEndian(length, size)

/** Bytes behind their number. */
const counted = (size: LengthSize) => ({
  length: LENGTHS[size],
  write: (bytes: Uint8Array) => joinBytes([writeLength(bytes.length, size), bytes]),
})

function text(size: 4 | 8): FieldType<string> {
  const { length, write } = counted(size)
  // In quotes, so that no text within a value looks like another field, item or value of it.
  return {
    size: null,
    read: (from) => from.text(length(from)),
    write: (value) => write(utf8(value)),
    show: JSON.stringify,
  }
}

const showBytes = (bytes: Uint8Array): string => (bytes.length === 0 ? 'empty' : hexOf(bytes))

function bytes(size: LengthSize): FieldType<Uint8Array> {
  const { length, write } = counted(size)
  return { size: null, read: (from) => from.take(length(from)), write, show: showBytes }
}

function float(value: string): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, Number(value), true)
  return bytes
}

function unsignedLeb128(from: ByteReader): number {
  let value = 0
  for (let scale = 1; scale <= 2 ** 42; scale *= 128) {
    const byte = from.u8()
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return value
  }
  throw new ShortData()
}

const unread = (): never => {
  throw new ShortData()
}

const SCALARS: { readonly [T in keyof Scalars]: FieldType<Scalars[T]> } = {
  u8: whole(1, (from) => from.u8()),
  i8: whole(1, (from) => (from.u8() << 24) >> 24, true),
  u16: whole(2, (from) => from.u16()),
  i16: whole(2, (from) => from.i16(), true),
  u32: whole(4, (from) => from.u32()),
  i32: whole(4, (from) => from.u32() | 0, true),
  u64: whole(8, (from) => from.u64()),
  u128: whole(16, (from) => from.u128()),
  i64: whole(8, (from) => from.i64(), true),
  i128: whole(16, (from) => BigInt.asIntN(128, from.u128()), true),
  /** Seven bits in each byte, the lowest first. */
  uleb128: { size: null, read: unsignedLeb128, write: (value) => Uint8Array.from(compactLength(value)), show: String },
  /** As decimal text. */
  f64: { size: 8, read: (from) => String(from.f64()), write: float, show: String },
  bool: {
    size: 1,
    read: (from) => oneOf([false, true], from.u8()),
    write: (value) => Uint8Array.of(Number(value)),
    show: String,
  },
  string: text(4),
  string64: text(8),
  /** UTF-8 up to the end of the data. */
  text: { size: null, read: (from) => from.text(from.left), write: utf8, show: JSON.stringify },
  bytes: bytes(4),
  bytes8: bytes(1),
  bytes16: bytes(2),
  bytes64: bytes(8),
  bytes_leb128: bytes('leb128'),
  pubkey: { size: 32, read: (from) => from.key(), write: addressBytes, show: String },
  /** 32 zeros stand for no address. */
  pubkey_or_zeros: {
    size: 32,
    read: (from) => from.nonZeroKey(),
    write: (value) => (value === null ? new Uint8Array(32) : addressBytes(value)),
    show: (value) => value ?? 'none',
  },
  /** A value that is never read, so that its bytes are shown. */
  bytes_as_they_are: { size: null, read: unread, write: unread, show: unread },
}
const TEXTS: readonly string[] = ['string', 'string64', 'text']

/** A byte that stands for nothing is not a value of the type, so it stays unexplained. */
function oneOf<T>(values: readonly T[], index: number): T {
  const value = values[index]
  if (value === undefined) throw new ShortData()
  return value
}

const known = new Map<string, AnyType>()

/** Throws an Error for a type that is not known. */
export function fieldType(type: string): AnyType {
  const found = known.get(type) ?? typeOf(type)
  known.set(type, found)
  return found
}

/** A value as people see it: a text as it is, and one within another value in quotes. */
export const shownAs = (type: string, value: unknown): string =>
  TEXTS.includes(type) ? String(value) : fieldType(type).show(value)

function typeOf(type: string): AnyType {
  const inner = type.slice(1, -1)
  if (type.startsWith('??')) return optionOfOneSize(fieldType(type.slice(2)))
  if (type.startsWith('?')) return optional(fieldType(type.slice(1)))
  if (type.startsWith('**')) return allThatAreLeft(fieldType(type.slice(2)))
  if (type.startsWith('*8')) return list(fieldType(type.slice(2)), 1)
  if (type.startsWith('*leb128')) return list(fieldType(type.slice(7)), 'leb128')
  if (type.startsWith('*64')) return list(fieldType(type.slice(3)), 8)
  if (type.startsWith('*')) return list(fieldType(type.slice(1)), 4)
  if (type.startsWith('(')) return tuple(partsOf(inner).map(fieldType))
  if (type.startsWith('{')) return struct(partsOf(inner).map(namedType))
  if (type.startsWith('<')) return oneOfSeveral(partsOf(inner).map(variantType))
  const length = /^hex(\d+)$/.exec(type)?.[1]
  if (length !== undefined) return exactly(Number(length))
  if (!Object.hasOwn(SCALARS, type)) throw new Error(`the layout type ${type} is not known`)
  return SCALARS[type as keyof Scalars]
}

const exactly = (size: number): FieldType<Uint8Array> => ({
  size,
  read: (from) => from.take(size),
  write(value) {
    if (value.length !== size) throw new RangeError(`${value.length} bytes instead of ${size}`)
    return value
  },
  show: showBytes,
})

/** A value that is not given is left out, too. */
const optional = (some: AnyType): AnyType => ({
  size: null,
  read: (from) => oneOf([() => null, () => some.read(from)], from.u8())(),
  write: (value) => ((value ?? null) === null ? Uint8Array.of(0) : joinBytes([Uint8Array.of(1), some.write(value)])),
  show: (value) => (value === null ? 'none' : some.show(value)),
})

/** Bytes before the value of an option in an account's layout. */
export const OPTION_TAG_BYTES = 4

/** An option of an account's layout, which has room for its value if there is none. */
const optionOfOneSize = (some: AnyType): AnyType => {
  const size = some.size ?? 0
  return {
    size: OPTION_TAG_BYTES + size,
    read(from) {
      const isThere = from.u32() === 1
      const value = some.read(from)
      return isThere ? value : null
    },
    write: (value) =>
      (value ?? null) === null
        ? new Uint8Array(OPTION_TAG_BYTES + size)
        : joinBytes([littleEndian(1, OPTION_TAG_BYTES), some.write(value)]),
    show: (value) => (value === null ? 'none' : some.show(value)),
  }
}

const allThatAreLeft = (each: AnyType): FieldType<readonly unknown[]> => ({
  size: null,
  read(from) {
    const values: unknown[] = []
    while (from.left >= (each.size ?? 1)) values.push(each.read(from))
    return values
  },
  write: (values) => joinBytes(values.map((value) => each.write(value))),
  show: (values) => `[${values.map((value) => each.show(value)).join(', ')}]`,
})

const list = (each: AnyType, size: LengthSize): FieldType<readonly unknown[]> => ({
  size: null,
  read(from) {
    const values: unknown[] = []
    // A hostile length ends where the data does, since every value has a byte.
    for (let left = LENGTHS[size](from); left > 0; left--) values.push(each.read(from))
    return values
  },
  write: (values) => joinBytes([writeLength(values.length, size), ...values.map((value) => each.write(value))]),
  show: (values) => `[${values.map((value) => each.show(value)).join(', ')}]`,
})

const sumOf = (types: readonly AnyType[]): number | null =>
  types.reduce<number | null>((sum, { size }) => (sum === null || size === null ? null : sum + size), 0)

const tuple = (parts: readonly AnyType[]): FieldType<readonly unknown[]> => ({
  size: sumOf(parts),
  read: (from) => parts.map((part) => part.read(from)),
  write: (values) => joinBytes(parts.map((part, i) => part.write(values[i]))),
  show: (values) => parts.map((part, i) => part.show(values[i])).join(', '),
})

type Named = readonly [name: string, type: AnyType]

const struct = (fields: readonly Named[]): FieldType<Readonly<Record<string, unknown>>> => ({
  size: sumOf(fields.map(([, type]) => type)),
  read: (from) => Object.fromEntries(fields.map(([name, type]) => [name, type.read(from)])),
  write: (values) => joinBytes(fields.map(([name, type]) => type.write(values[name]))),
  show: (values) => `{${fields.map(([name, type]) => `${name}: ${type.show(values[name])}`).join(', ')}}`,
})

const oneOfSeveral = (variants: readonly (readonly [name: string, type: AnyType | null])[]): FieldType<Variant> => ({
  size: variants.every(([, type]) => type === null) ? 1 : null,
  read(from) {
    const [name, type] = oneOf(variants, from.u8())
    return { name, value: type === null ? null : type.read(from) }
  },
  write({ name, value }) {
    const place = variants.findIndex(([each]) => each === name)
    const type = variants[place]?.[1]
    if (type === undefined) throw new Error(`${name} is not one of ${variants.map(([each]) => each).join(', ')}`)
    return joinBytes([Uint8Array.of(place), ...(type === null ? [] : [type.write(value)])])
  },
  show({ name, value }) {
    const type = variants.find(([each]) => each === name)?.[1] ?? null
    return type === null ? name : `${name} ${type.show(value)}`
  },
})

function namedType(field: string): Named {
  const colon = field.indexOf(':')
  return [field.slice(0, colon), fieldType(field.slice(colon + 1))]
}

function variantType(variant: string): readonly [name: string, type: AnyType | null] {
  const at = variant.search(/[^A-Za-z0-9_]/)
  return at === -1 ? [variant, null] : [variant.slice(0, at), fieldType(variant.slice(at))]
}

/** The parts between the commas that stand outside of all brackets. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let [depth, from] = [0, 0]
  for (let i = 0; i <= text.length; i++) {
    const letter = text[i] ?? ','
    if ('{(<'.includes(letter)) depth++
    if ('})>'.includes(letter)) depth--
    if (letter !== ',' || depth > 0) continue
    if (i > from) parts.push(text.slice(from, i))
    from = i + 1
  }
  return parts
}
