/** Reads a JSON list of flat objects with the place of every value, so that a fault can be named by line and column. */
import type { PlacedRow, PlacedValue } from '../lists/csv.ts'

export type PlacedObject = Pick<PlacedRow, 'fields' | 'offset'>

/** What is wrong with the text, and at which byte. */
export class JsonFault extends Error {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/** A string, a number or a word of JSON, at one place of the text. */
const VALUE =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y
const SPACE = /[ \t\r\n]*/y

/** Fields that are null are left out. Throws JsonFault. */
export function readPlacedList(bytes: Uint8Array): PlacedObject[] {
  const text = Buffer.from(bytes).toString('utf8')
  let counted = { place: 0, bytes: 0 }
  // Offsets are bytes, as they are in a CSV; places only grow, so that each character is counted once.
  const byteAt = (place: number) => {
    const bytes = counted.bytes + Buffer.byteLength(text.slice(counted.place, place))
    counted = { place, bytes }
    return bytes
  }
  const fault = (place: number, message: string) => new JsonFault(byteAt(place), message)
  let at = text.startsWith('\uFEFF') ? 1 : 0

  const skip = () => {
    SPACE.lastIndex = at
    at += SPACE.exec(text)?.[0].length ?? 0
    return text[at]
  }
  const expect = (mark: string, what: string) => {
    if (skip() !== mark)
      throw fault(at, at >= text.length ? `the file ends where ${what} is missing` : `${what} is missing here`)
    at++
  }
  const value = (what: string): unknown => {
    const start = skip()
    if (start === '{' || start === '[') throw fault(at, `${what} must be a text, a number, true or false`)
    VALUE.lastIndex = at
    const found = VALUE.exec(text)?.[0]
    if (found === undefined) throw fault(at, `${what} is not JSON`)
    at += found.length
    return JSON.parse(found)
  }
  /** Calls `item` for each element between commas, up to the closing mark. */
  const each = (close: string, item: () => void) => {
    if (skip() === close) {
      at++
      return
    }
    for (;;) {
      item()
      if (skip() === ',') at++
      else return expect(close, `a comma or "${close}"`)
    }
  }

  const rows: PlacedObject[] = []
  expect('[', 'the "[" of a list')
  each(']', () => {
    skip()
    const row: PlacedObject = { fields: new Map(), offset: byteAt(at) }
    expect('{', 'the "{" of a launch')
    each('}', () => {
      skip()
      const place = at
      const name = value('the name of a field')
      if (typeof name !== 'string') throw fault(place, 'the name of a field must be a text')
      if (row.fields.has(name)) throw fault(place, `the field ${name} appears twice`)
      expect(':', `the ":" after ${name}`)
      skip()
      const offset = at
      const read = value(`the ${name}`)
      if (read !== null) row.fields.set(name, { value: read as PlacedValue['value'], offset: byteAt(offset) })
    })
    rows.push(row)
  })
  if (skip() !== undefined) throw fault(at, 'there is more after the list')
  return rows
}
