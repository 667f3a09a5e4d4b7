/** Reads the assertions of an instruction of Lighthouse, and says each in the words of its fields. */
import { solText } from '../../solana/amounts.ts'
import { hexOf } from '../../solana/bytes.ts'
import type { ReadInstruction } from '../../solana/guards.ts'
import { LIGHTHOUSE } from '../../solana/programs/lighthouse.ts'

/** One of the assertions of an instruction: what it compares, of which account. */
export interface Condition {
  /** Null for the clock. */
  address: string | null
  /** The field, after those that it is part of. */
  path: readonly string[]
  /** The first byte of a value that is no field; null for a field. */
  at: unknown
  /** What is subtracted before: the bytes of another account from this one; null if nothing is. */
  less: { address: string | null; at: unknown } | null
  /** Undefined for a field that is not compared with a value. */
  value?: unknown
  /** The name of the operator; null if there is none. */
  operator: string | null
}

/** A variant with its name and value, or the fields of an assertion: a value and an operator, or places of bytes. */
type Node = Readonly<Record<string, unknown>> | null

/** What has to hold for an instruction, in its order; empty for any other instruction, and for data that cannot be read. */
export function conditionsOf({ program, accounts, data }: ReadInstruction): Condition[] {
  const name = program === LIGHTHOUSE.id ? LIGHTHOUSE.nameOf(data) : null
  if (name === null) return []
  const args: Node = LIGHTHOUSE.argsOf(name, data)
  const all = args?.assertions ?? (args?.assertion === undefined ? [] : [args.assertion])
  const [first = null, second = null] = accounts
  const isDelta = name === 'assert_account_delta'
  const start: Condition = { address: isDelta ? second : first, path: [], at: null, less: null, operator: null }
  return (all as Node[]).map((each) =>
    'offset' in (each ?? {}) ? within(each, start, first) : conditionAt(each, start, first),
  )
}

/** Follows variants to the innermost one, whose fields have the value and the operator. `other` is subtracted, if any. */
function conditionAt(node: Node, of: Condition, other: string | null): Condition {
  const { name, value } = (node ?? {}) as { name?: string; value?: Node }
  const own = { ...of, path: [...of.path, String(name)] }
  if (value === null || value === undefined) return own
  if ('name' in value) return conditionAt(value, own, other)
  if ('assertion' in value) return within(value, of, other)
  const { operator, ...rest } = value as { operator?: { name: string }; value?: unknown }
  const said = Object.keys(rest).length === 0 ? undefined : rest
  return { ...own, value: 'value' in rest ? rest.value : said, operator: operator?.name ?? null }
}

/** An assertion about bytes of the account, or about their difference from those of another one. */
function within(node: Node, of: Condition, other: string | null): Condition {
  const { offset, a_offset, b_offset, assertion } = node ?? {}
  const less = a_offset === undefined ? null : { address: other, at: a_offset }
  return conditionAt(assertion as Node, { ...of, at: offset ?? b_offset ?? null, less }, other)
}

const OPERATORS: Readonly<Record<string, string>> = {
  equal: 'is',
  not_equal: 'is not',
  greater_than: 'is more than',
  less_than: 'is less than',
  greater_than_or_equal: 'is at least',
  less_than_or_equal: 'is at most',
  contains: 'has the bits',
  does_not_contain: 'has none of the bits',
}

/** As a clause, such as `amount of ADDRESS is at least 5`. */
export function conditionWords({ address, path, at, less, value, operator }: Condition): string {
  const field = [...path].reverse().join(' ').replaceAll('_', ' ')
  const what = `${field}${at === null ? '' : ` at byte ${String(at)}`} of ${address ?? 'the clock'}`
  if (operator === null && value === undefined) return `${address} is the associated account of its owner`
  const is = operator === null ? 'is' : OPERATORS[operator]
  const other = less === null ? null : `that at byte ${String(less.at)} of ${less.address}`
  const isNumber = typeof value === 'bigint' || typeof value === 'number'
  if (other !== null && !isNumber) return `${what} ${is} ${other}${value === undefined ? '' : ` (${shown(value)})`}`
  const isSol = field === 'lamports' && typeof value === 'bigint'
  return `${what}${other === null ? '' : `, less ${other},`} ${is} ${isSol ? solText(value) : shown(value)}`
}

function shown(value: unknown): string {
  if (value === null) return 'none'
  if (value instanceof Uint8Array) return hexOf(value)
  if (typeof value !== 'object') return String(value)
  if (value !== null && 'name' in value) return String(value.name)
  return Object.entries(value)
    .map(([name, each]) => `${name} ${shown(each)}`)
    .join(', ')
}
