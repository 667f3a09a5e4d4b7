/** What an execution was going to change when it was proposed, as it is stored, and how it differs from that now. */
import type { Simulation } from '../../../api/index.ts'
import { decimalOf, solText } from '../../../solana/amounts.ts'
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { fromJson } from '../../api-records.ts'

type BalanceChange = Simulation['balance_changes'][number]
type ControlChange = Simulation['control_changes'][number]

export type PlannedChanges = Pick<Simulation, 'balance_changes' | 'control_changes'>

/** Null for `control_changes` of a row of an older version, which stored balances alone. */
type StoredChanges = Pick<PlannedChanges, 'balance_changes'> & { control_changes: ControlChange[] | null }

export const forecastJson = ({ balance_changes, control_changes }: PlannedChanges): string =>
  JSON.stringify({ balance_changes, control_changes })

export function plannedChanges(forecast_json: string | null): StoredChanges | null {
  if (forecast_json === null) return null
  const stored = fromJson<BalanceChange[] | PlannedChanges>(forecast_json)
  return Array.isArray(stored) ? { balance_changes: stored, control_changes: null } : stored
}

/**
 * Returns a sentence for each owner or authority that would become another one than planned. Anybody can send SOL to the
 * address of an account that is still to be created, which changes nothing about the creation.
 */
export function otherControl(
  planned: readonly ControlChange[],
  all: readonly ControlChange[],
  created: ReadonlySet<string>,
): string[] {
  const funded = new Set(all.filter(isCreation).flatMap(({ address }) => (created.has(address) ? [address] : [])))
  const now = all.filter(({ address }) => !funded.has(address))
  const nameOf = ({ address, what }: ControlChange) => `${address} ${what}`
  const [before, after] = [planned, now].map((all) => new Map(all.map((change) => [nameOf(change), change])))
  const faults: string[] = []
  for (const [name, { address, what, before: from, after: to }] of after ?? []) {
    const wanted = before?.get(name)
    const changed = `${what} of ${address} would go from ${from ?? 'nobody'} to ${to ?? 'nobody'}`
    if (wanted === undefined) faults.push(`${changed}, which was not planned`)
    else if (wanted.after !== to) faults.push(`${changed} instead of to ${wanted.after ?? 'nobody'}`)
  }
  for (const [name, { address, what, after: to }] of before ?? []) {
    if (after?.has(name)) continue
    faults.push(`${what} of ${address} would stay as it is instead of going to ${to ?? 'nobody'}`)
  }
  return faults
}

const isCreation = ({ what, before }: ControlChange) => what === 'program' && before === SYSTEM_PROGRAM

/** The addresses at which an execution was going to create an account. */
export const createdIn = ({ balance_changes }: Pick<PlannedChanges, 'balance_changes'>): ReadonlySet<string> =>
  new Set(balance_changes.flatMap(({ address, mint, created }) => (mint === null && created ? [address] : [])))

/** Lamports that an account may lose unplanned: what a member pays for the execution is less. */
const LEAST_LOSS = 10_000_000n

/** Returns a sentence for each account that would be closed or lose SOL without a plan to do so. */
export function otherLosses(vault: string, planned: readonly BalanceChange[], now: readonly BalanceChange[]): string[] {
  const losing = new Set(
    planned.flatMap(({ address, mint, change }) => (mint === null && BigInt(change) < 0n ? [address] : [])),
  )
  return now.flatMap(({ address, mint, change, closed }) => {
    const loss = -BigInt(change)
    if (mint !== null || address === vault || losing.has(address) || (!closed && loss < LEAST_LOSS)) return []
    return [`${address} would ${closed ? 'be closed and ' : ''}lose ${solText(loss)}, which was not planned`]
  })
}

/** Returns a sentence for each balance of the vault that would be lower than planned. */
export function worseFor(vault: string, planned: readonly BalanceChange[], now: readonly BalanceChange[]): string[] {
  const before = sumsOf(vault, planned)
  const after = sumsOf(vault, now)
  const faults: string[] = []
  for (const [mint, { amount: wanted, decimals }] of before) {
    const amount = after.get(mint)?.amount ?? 0n
    if (amount >= wanted) continue
    faults.push(`the vault would ${said(amount, mint, decimals)} instead of ${said(wanted, mint, decimals)}`)
  }
  for (const [mint, { amount, decimals }] of after) {
    if (!before.has(mint) && amount < 0n)
      faults.push(`the vault would ${said(amount, mint, decimals)}, which was not planned`)
  }
  return faults
}

interface Sum {
  amount: bigint
  decimals: number | null
}

/** What the vault gains and loses by mint; SOL, with the rent of its own accounts, has none. */
function sumsOf(vault: string, changes: readonly BalanceChange[]): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const { address, mint, owner, change, decimals } of changes) {
    if (mint === null ? address !== vault : owner !== vault) continue
    const key = mint ?? ''
    const sum = sums.get(key) ?? { amount: 0n, decimals }
    sums.set(key, { ...sum, amount: sum.amount + BigInt(change) })
  }
  return sums
}

function said(amount: bigint, mint: string, decimals: number | null): string {
  const size = amount < 0n ? -amount : amount
  const shown = mint === '' ? solText(size) : `${decimalOf(size, decimals ?? 0)} of ${mint}`
  return `${amount < 0n ? 'lose' : 'get'} ${shown}`
}
