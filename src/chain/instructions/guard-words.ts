/** Says what instructions of Lighthouse demand, in clauses: those that svc adds as guards, and those of others. */

import { groupedDecimalOf, solText } from '../../solana/amounts.ts'
import { hexOf } from '../../solana/bytes.ts'
import { type Guard, type ReadInstruction, readGuards } from '../../solana/guards.ts'
import { LIGHTHOUSE } from '../../solana/programs/lighthouse.ts'

/** One of the assertions of an instruction: what it compares, of which account. */
export interface Demand {
  /** Null for the clock. */
  address: string | null
  /** The field, after those that it is part of. */
  path: readonly string[]
  /** Undefined for a field that is not compared with a value. */
  value?: unknown
  /** The name of the operator; null if there is none. */
  operator: string | null
}

/** Fields of an assertion, or a variant. */
type Node = Readonly<Record<string, unknown>> | null

/** What an instruction demands, in its order; empty for any other instruction, and for data that cannot be read. */
export function demandsIn({ program, accounts, data }: ReadInstruction): Demand[] {
  const name = program === LIGHTHOUSE.id ? LIGHTHOUSE.nameOf(data) : null
  if (name === null) return []
  const args: Node = LIGHTHOUSE.argsOf(name, data)
  const all = args?.assertions ?? (args?.assertion === undefined ? [] : [args.assertion])
  const address = accounts[name === 'assert_account_delta' ? 1 : 0] ?? null
  const other = name === 'assert_account_delta' ? (accounts[0] ?? null) : null
  return (all as Node[]).map((each) => demandOf(each, { address, other }, []))
}

type Accounts = { address: string | null; other: string | null }

function demandOf(node: Node, of: Accounts, path: readonly string[]): Demand {
  const { name, value } = (node ?? {}) as { name?: string; value?: Node }
  const own = [...path, String(name)]
  const { address } = of
  if (value === null || value === undefined) return { address, path: own, operator: null }
  if ('name' in value) return demandOf(value, of, own)
  if ('assertion' in value) return demandOf(value.assertion as Node, of, [...own.slice(0, -1), ...placesIn(value, of)])
  const { operator, ...rest } = value as { operator?: { name: string }; value?: unknown }
  return { address, path: own, value: 'value' in rest ? rest.value : rest, operator: operator?.name ?? null }
}

/** Where in the data the value is, and with which it is compared in another account. */
const placesIn = ({ offset, a_offset, b_offset }: Exclude<Node, null>, { other }: Accounts): string[] => [
  ...[offset, b_offset].flatMap((at) => (at === undefined ? [] : [`at byte ${String(at)}`])),
  ...(a_offset === undefined ? [] : [`less that at byte ${String(a_offset)} of ${other}`]),
]

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

/** As a clause, such as `lamports of ADDRESS is at least 5`. */
export function demandWords({ address, path, value, operator }: Demand): string {
  const what = `${[...path].reverse().join(' ').replaceAll('_', ' ')} of ${address ?? 'the clock'}`
  if (operator === null && value === undefined) return `${what} holds`
  return `${what} ${operator === null ? 'is' : OPERATORS[operator]} ${shown(value)}`
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

/** The clauses of each instruction by its place, without repetitions. */
export function conditionsIn(payer: string, all: readonly ReadInstruction[]): string[][] {
  const own = readGuards(payer, all)
  if (own === null) return all.map((each) => [...new Set(demandsIn(each).map(demandWords))])
  // The last instruction of a guard says whose it is, and the one before it how much may leave.
  const left = [...own.guards]
  return all.map((each, place) => {
    const demands = own.places.includes(place) ? demandsIn(each) : []
    const isLast = demands.length > 0 && LIGHTHOUSE.nameOf(each.data) !== 'assert_account_delta'
    const guard = isLast ? left.shift() : undefined
    return guard === undefined ? [] : guardWords(guard)
  })
}

function guardWords(guard: Guard): string[] {
  const { address, change } = guard
  if (guard.kind === 'wallet')
    return [flowWords(address, guard.change, solText), `${address} stays a wallet of the System program without data`]
  const { delegate, closeAuthority, least, isFrozen, owner } = guard
  return [
    ...(change === null ? [] : [flowWords(address, change, rawText)]),
    ...(least === 0n ? [] : [`${address} holds at least ${rawText(least)}`]),
    owner === null ? `${address} stays the associated account of its owner` : `${owner} owns ${address}`,
    `the delegate of ${address} is ${delegate ?? 'nobody'}`,
    `${closeAuthority ?? 'only its owner'} may close ${address}`,
    `${address} is ${isFrozen ? '' : 'not '}frozen`,
  ]
}

export const rawText = (amount: bigint): string => `${groupedDecimalOf(amount, 0)} raw units`

const flowWords = (address: string, change: bigint, text: (amount: bigint) => string): string =>
  change > 0n ? `at least ${text(change)} come into ${address}` : `at most ${text(-change)} leave ${address}`
