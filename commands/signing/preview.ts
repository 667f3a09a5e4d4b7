/** What a transaction would do, in lines for a person: cost, rent, and whose balance changes by how much. */
import type { Simulation } from '../../src/api/transactions.ts'
import { decimalOf, LAMPORT_DIGITS, solOf } from '../amounts.ts'
import { cleaned } from '../ui/render.ts'
import type { Explanation, TransactionContent } from './wallet.ts'

export interface Previewed {
  /** Null where only the API knows. */
  cluster: string | null
  signer: string
  content: TransactionContent
  simulation: Simulation
}

const LOG_LINES = 8

export function previewLines(what: string, { cluster, signer, content, simulation }: Previewed): string[] {
  const programs = [...new Set(content.instructions.map(({ name, program }) => name ?? program))]
  return [
    what,
    pair('cluster', cluster ?? 'only the API knows'),
    pair('signer', signer),
    ...(content.fee_payer === signer ? [] : [pair('fee payer', content.fee_payer)]),
    pair('programs', programs.join(', ')),
    ...effectLines(simulation, signer),
  ]
}

/** Fee, rent and balance changes; those of `own` come first. */
export function effectLines({ err, fee, balance_changes: changes }: Simulation, own?: string): string[] {
  const failed = err !== null && err !== undefined
  const rows = [...changes].sort((a, b) => rank(a, own) - rank(b, own))
  const opened = changes.filter(({ created, mint, space }) => created && mint === null && space > 0)
  const rent = opened.reduce((sum, { after, space }) => sum + least(BigInt(after), rentFor(space)), 0n)
  return [
    pair('fee', fee === null ? 'not known' : `${solOf(BigInt(fee))} SOL`),
    ...(failed ? [] : [pair('rent', rentOf(opened.length, rent))]),
    ...(failed || rows.length === 0
      ? []
      : [pair('changes', ''), ...rows.map((change) => `    ${changed(change, own)}`)]),
  ]
}

/** Why a run failed: its meaning, what the node says and the end of the log. */
export function failureLines({ err, logs }: Simulation, { program, message, hint }: Explanation): string[] {
  return [
    pair('failed', cleaned(program === null ? message : `${program}: ${message}`)),
    ...(hint === null ? [] : [pair('hint', cleaned(hint))]),
    pair('error', cleaned(JSON.stringify(err))),
    ...(logs.length === 0
      ? []
      : [pair('log', logs.length > LOG_LINES ? `the last ${LOG_LINES} of ${logs.length} lines` : '')]),
    ...logs.slice(-LOG_LINES).map((line) => `    ${cleaned(line)}`),
  ]
}

type Change = Simulation['balance_changes'][number]

export const pair = (name: string, value: string) => `  ${name.padEnd(10)}${value}`.trimEnd()

/** Lamports that keep so many bytes rent-exempt: the cluster's rate of two years, with 128 bytes for the account itself. */
const rentFor = (space: number) => BigInt(space + 128) * 6_960n
const least = (a: bigint, b: bigint) => (a < b ? a : b)

function rentOf(accounts: number, lamports: bigint): string {
  if (accounts === 0) return 'none: no account is made'
  return `${solOf(lamports)} SOL in ${accounts} new account${accounts === 1 ? '' : 's'}`
}

function rank({ address, owner, mint }: Change, own: string | undefined): number {
  return (own !== undefined && (address === own || owner === own) ? 0 : 2) + (mint === null ? 0 : 1)
}

function changed(change: Change, own: string | undefined): string {
  const { address, owner, mint, decimals, before, after, created, closed } = change
  const digits = mint === null ? LAMPORT_DIGITS : (decimals ?? 0)
  const unit = mint === null ? 'SOL' : `${decimals === null ? 'raw units ' : ''}of ${mint}`
  const amount = decimalOf(BigInt(change.change), digits)
  const whose = address === own ? ' (you)' : owner === null ? '' : owner === own ? ' (yours)' : ` (of ${owner})`
  const state = created ? ', new' : closed ? ', closed' : ''
  const range = `${decimalOf(BigInt(before), digits)} → ${decimalOf(BigInt(after), digits)}`
  return `${address}${whose}${state}  ${amount.startsWith('-') ? '' : '+'}${amount} ${unit}  (${range})`
}
