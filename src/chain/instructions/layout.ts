/** Layouts of instructions as text: their names, their accounts in order, and their arguments with their types. */
import { type ByteReader, ShortData } from '../../solana/byte-reader.ts'

/**
 * Instructions by the hex of their first bytes: name, names of the accounts, and `name:type` of the arguments. Names
 * are separated by spaces. A type is one of `PLAIN`, `?T` (optional), `*T` (a list), `{name:T,name:T}` (fields), `(T,T)`,
 * `<Name,NameT>` (one of several, each alone or with fields), or `hexN` (N bytes).
 */
export type InstructionTable = Readonly<Record<string, readonly [name: string, accounts: string, args: string]>>

export interface ProgramLayout {
  table: InstructionTable
  /** Number of bytes at the start of the data that identify the instruction. */
  prefixBytes: number
}

type Read = (reader: ByteReader) => string

const hexOf = (bytes: Uint8Array) => (bytes.length === 0 ? 'empty' : Buffer.from(bytes).toString('hex'))

/** Types whose values are one text. Lengths of texts, bytes and lists are u32. */
const PLAIN: Readonly<Record<string, Read>> = {
  u8: (reader) => String(reader.u8()),
  u16: (reader) => String(reader.u16()),
  i16: (reader) => String(reader.i16()),
  u32: (reader) => String(reader.u32()),
  u64: (reader) => String(reader.u64()),
  u128: (reader) => String(reader.u64() + (reader.u64() << 64n)),
  i64: (reader) => String(reader.i64()),
  bool: (reader) => String(oneOf(['false', 'true'], reader.u8())),
  string: (reader) => reader.text(reader.u32()),
  string64: (reader) => reader.text(reader.u64()),
  bytes: (reader) => hexOf(reader.take(reader.u32())),
  bytes64: (reader) => hexOf(reader.take(Number(reader.u64()))),
  pubkey: (reader) => reader.key(),
  /** A value that is never read, so that its bytes are shown. */
  bytes_as_they_are: () => {
    throw new ShortData()
  },
}

/** In quotes, so that no text within a value looks like another field, item or value of it. */
const quoted =
  (read: Read): Read =>
  (reader) =>
    JSON.stringify(read(reader))
const TEXTS: readonly string[] = ['string', 'string64']

/** A byte that stands for nothing is no value of the type, so it stays unexplained. */
function oneOf<T>(values: readonly T[], index: number): T {
  const value = values[index]
  if (value === undefined) throw new ShortData()
  return value
}

const readers = new Map<string, Read>()

/** Reads a value of the type as text; a text is as it is, and one within another value is in quotes. Throws ShortData where the data ends early or the type does not allow a byte. */
export function readAs(type: string, reader: ByteReader): string {
  const read = readers.get(type) ?? (TEXTS.includes(type) ? plainOf(type) : readerOf(type))
  readers.set(type, read)
  return read(reader)
}

function readerOf(type: string): Read {
  const [first, inner] = [type[0], type.slice(1, -1)]
  if (first === '?') {
    const some = readerOf(type.slice(1))
    return (reader) => oneOf([() => 'none', () => some(reader)], reader.u8())()
  }
  if (first === '*') {
    const each = readerOf(type.slice(1))
    // A hostile length ends where the data does, since every value has a byte.
    return (reader) => `[${listOf(Number(reader.u32()), () => each(reader)).join(', ')}]`
  }
  if (first === '(') {
    const parts = partsOf(inner).map(readerOf)
    return (reader) => parts.map((read) => read(reader)).join(', ')
  }
  if (first === '{') {
    const fields = partsOf(inner).map(fieldOf)
    return (reader) => `{${fields.map(({ name, read }) => `${name}: ${read(reader)}`).join(', ')}}`
  }
  if (first === '<') {
    const variants = partsOf(inner).map((variant) => {
      const at = variant.search(/[^A-Za-z0-9_]/)
      if (at === -1) return () => variant
      const read = readerOf(variant.slice(at))
      return (reader: ByteReader) => `${variant.slice(0, at)} ${read(reader)}`
    })
    return (reader) => oneOf(variants, reader.u8())(reader)
  }
  const length = /^hex(\d+)$/.exec(type)?.[1]
  if (length !== undefined) return (reader) => hexOf(reader.take(Number(length)))
  return TEXTS.includes(type) ? quoted(plainOf(type)) : plainOf(type)
}

function plainOf(type: string): Read {
  const plain = Object.hasOwn(PLAIN, type) ? PLAIN[type] : undefined
  if (plain === undefined) throw new Error(`the layout type ${type} is not known`)
  return plain
}

function fieldOf(field: string) {
  const colon = field.indexOf(':')
  return { name: field.slice(0, colon), read: readerOf(field.slice(colon + 1)) }
}

function listOf<T>(length: number, next: () => T): T[] {
  const list: T[] = []
  for (let i = 0; i < length; i++) list.push(next())
  return list
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
