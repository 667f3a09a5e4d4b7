/** Previews a transaction in lines for a terminal: fee, rent, and which balances change by how much. */
import type { ClusterState } from '../../src/api/service.ts'
import type { Simulation } from '../../src/api/transactions.ts'
import { CONSENSUS_NAMES } from '../../src/solana/constants.ts'
import { programName } from '../../src/solana/programs.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'
import type { Demand } from './demand.ts'
import { guardTexts } from './guard-lines.ts'
import type { SimulatedBuild } from './run-failures.ts'
import type { Explanation, TransactionContent } from './wallet.ts'

const LOG_LINES = 8

/** Who signs the transactions of a list. What the platform wallet signs on the server is not checked here. */
export const listSignerLines = (signer: string, isSigned: boolean, checked: string): string[] =>
  isSigned
    ? [previewLine('signer', `${signer}, the platform wallet`)]
    : [previewLine('signer', signer), previewLine('checked', checked)]

interface RunPreview {
  /** The command's own lines, shown before the changes. */
  preview?: readonly string[] | undefined
  /** The transactions after the first, which cannot be simulated before the first is confirmed. */
  later: readonly TransactionContent[]
  bundle: boolean
  /** The lines of what all of them cost. */
  total?: readonly string[]
  /** State of the cluster, whose consensus is shown. */
  state?: ClusterState | null
  /** What accounts are, by address. */
  names?: Readonly<Record<string, string>> | undefined
}

/** The lines of a preview: what happens, on which cluster, with which signer and changes, and why it would fail. */
export function runLines(
  what: string,
  forecast: SimulatedBuild,
  { preview = [], later, bundle, total = [], state = null, names = {} }: RunPreview,
): string[] {
  const { cluster, signer, content, simulation, fault } = forecast
  const how = bundle
    ? 'as a bundle: all land in one slot, or none'
    : 'one after another, each confirmed before the next'
  return [
    what,
    ...preview,
    previewLine('cluster', `${cluster ?? 'only the API knows'}${consensusText(state)}`),
    previewLine('signer', signer),
    ...(content.fee_payer === signer ? [] : [previewLine('fee payer', content.fee_payer)]),
    ...(later.length === 0
      ? []
      : [previewLine('sends', `${later.length + 1} transactions, ${how}`), previewLine('first', '')]),
    previewLine('programs', programsIn(content)),
    ...guardLines(forecast),
    ...effectLines(simulation, signer, { ...YOURS, names }),
    ...later.flatMap((one, i) => [
      previewLine(i === 0 ? 'then' : '', ''),
      previewLine('programs', programsIn(one)),
      previewLine('guard', 'not guarded: nobody knows yet what it takes'),
      previewLine('changes', 'known only after the one before it is confirmed'),
    ]),
    ...total,
    ...(fault === null ? [] : failureLines(simulation, fault)),
  ]
}

/** What the chain holds of a transaction. */
export const guardLines = ({ signer, simulation, ...shown }: SimulatedBuild): string[] =>
  guardTexts(shown, signer, simulation).map((text, i) => previewLine(i === 0 ? 'guard' : '', text))

/** The same for a list, of whose transactions one was tried. */
export const listGuardLines = (forecast: SimulatedBuild): string[] => [
  previewLine('guard', 'each transaction has its own, the first:'),
  ...guardTexts(forecast, forecast.signer, forecast.simulation).map((text) => previewLine('', text)),
]

const consensusText = (state: ClusterState | null) =>
  state === null || state.consensus === null ? '' : ` (${CONSENSUS_NAMES[state.consensus]})`

const programsIn = ({ instructions }: TransactionContent) =>
  [...new Set(instructions.map(({ name, program }) => name ?? program))].join(', ')

/** The lines of fee, rent and balance changes; the changes of `own` come first. */
export function effectLines(
  { err, fee, rent, balance_changes: changes, control_changes: control }: Simulation,
  own?: string,
  whose: Whose = YOURS,
): string[] {
  const failed = err !== null && err !== undefined
  const rows = [...changes].sort((a, b) => changeRank(a, own) - changeRank(b, own))
  return [
    previewLine('fee', fee === null ? 'not known' : `${solOf(BigInt(fee))} SOL`),
    ...(failed ? [] : [rentLine({ balance_changes: changes, rent }), ...closedLines(changes, own)]),
    ...(failed || rows.length === 0
      ? []
      : [previewLine('changes', ''), ...rows.map((change) => `    ${changeText(change, own, whose)}`)]),
    ...(control === undefined || control.length === 0 ? [] : controlLines(control)),
  ]
}

/** The owners and authorities that change, before and after. An older API does not say. */
export function controlLines(changes: Simulation['control_changes'] | undefined): string[] {
  if (changes === undefined) return ['  owners and authorities  not known: the API is older']
  if (changes.length === 0) return ['  owners and authorities  stay as they are']
  const addresses = [...new Set(changes.map(({ address }) => address))]
  const named = (value: string | null) => printable(value === null ? 'nobody' : (programName(value) ?? value))
  return [
    '  owners and authorities',
    ...addresses.flatMap((address) => [
      `    ${printable(address)}`,
      ...changes
        .filter((change) => change.address === address)
        .flatMap(({ what, before, after }) => [
          `      ${printable(what)}`,
          `        ${named(before)}`,
          `        → ${named(after)}`,
        ]),
    ]),
  ]
}

/** How a preview names the wallet that acts, and what it owns. */
interface Whose {
  self: string
  owned: string
  /** What other accounts are, by address. */
  names?: Readonly<Record<string, string>>
}
const YOURS: Whose = { self: 'you', owned: 'yours' }
const VAULTS: Whose = { self: 'the vault', owned: "the vault's" }

/**
 * The lines of what an act of a vault would change. The fee of the simulation is not among them: the member who executes
 * the act pays that of another transaction.
 */
export function executionLines(
  { fee, ...simulation }: Simulation,
  vault: string,
  { payer }: { payer: string },
): string[] {
  const balance_changes = simulation.balance_changes.flatMap((change) => {
    if (change.address !== payer || change.mint !== null || fee === null) return [change]
    const [after, changed] = [BigInt(change.after) + BigInt(fee), BigInt(change.change) + BigInt(fee)]
    return changed === 0n ? [] : [{ ...change, after: String(after), change: String(changed) }]
  })
  return effectLines({ ...simulation, fee: null, balance_changes }, vault, VAULTS).slice(1)
}

/** The line of the rent that a run pays for new accounts. */
export function rentLine({ balance_changes: changes, rent }: Pick<Simulation, 'balance_changes' | 'rent'>): string {
  const opened = changes.filter(({ created, mint, space }) => created && mint === null && space > 0)
  return previewLine('rent', rentText(opened.length, rent === null ? null : BigInt(rent)))
}

/** The accounts that the run closes, and what they held: their rent returns. Empty if it closes none but `own`. */
function closedLines(changes: Simulation['balance_changes'], own: string | undefined): string[] {
  const closed = changes.filter(({ address, closed, mint, before }) => {
    return closed && mint === null && before !== '0' && address !== own
  })
  if (closed.length === 0) return []
  const held = closed.reduce((sum, { before }) => sum + BigInt(before), 0n)
  return [previewLine('closes', `${counted(closed.length, 'account')} with ${solOf(held)} SOL`)]
}

/** The lines of a failure: its meaning, the node's error and the end of the log. */
export function failureLines({ err, logs }: Simulation, { program, message, hint }: Explanation): string[] {
  return [
    previewLine('failed', printable(program === null ? message : `${program}: ${message}`)),
    ...(hint === null ? [] : [previewLine('hint', printable(hint))]),
    previewLine('error', printable(JSON.stringify(err))),
    ...(logs.length === 0
      ? []
      : [previewLine('log', logs.length > LOG_LINES ? `the last ${LOG_LINES} of ${logs.length} lines` : '')]),
    ...logs.slice(-LOG_LINES).map((line) => `    ${printable(line)}`),
  ]
}

type PreviewedChange = Simulation['balance_changes'][number]

/** What was checked here, without the API, before anything is signed, and what else was found. */
export const checkedLines = ({ says }: Demand, notes: readonly string[] = []): string[] => [
  previewLine('checked', `here: ${says}`),
  ...notes.map((note) => previewLine('', note)),
]

export const previewLine = (name: string, value: string) => `  ${name.padEnd(10)}${value}`.trimEnd()

/** Lines by their names. What is false or null is left out, and of several lines the first has the name. */
export const previewLines = (lines: Readonly<Record<string, string | readonly string[] | false | null>>): string[] =>
  Object.entries(lines).flatMap(([name, value]) =>
    value === false || value === null ? [] : [value].flat().map((text, i) => previewLine(i === 0 ? name : '', text)),
  )

function rentText(accounts: number, lamports: bigint | null): string {
  if (accounts === 0) return 'none: no account is made'
  return `${lamports === null ? 'not known:' : `${solOf(lamports)} SOL in`} ${counted(accounts, 'new account')}`
}

function changeRank({ address, owner, mint }: PreviewedChange, own: string | undefined): number {
  return (own !== undefined && (address === own || owner === own) ? 0 : 2) + (mint === null ? 0 : 1)
}

function changeText(change: PreviewedChange, own: string | undefined, { self, owned, names = {} }: Whose): string {
  const { address, owner, mint, decimals, before, after, withheld, created, closed } = change
  const digits = mint === null ? LAMPORT_DECIMALS : (decimals ?? 0)
  const unit = mint === null ? 'SOL' : `${decimals === null ? 'raw units ' : ''}of ${mint}`
  const amount = groupedDecimalOf(BigInt(change.change), digits)
  const name = Object.hasOwn(names, address) ? ` (${names[address]})` : ''
  const ownerText =
    address === own ? ` (${self})` : owner === null ? '' : owner === own ? ` (${owned})` : ` (of ${owner})`
  const state = created ? ', new' : closed ? ', closed' : ''
  const range = `${groupedDecimalOf(BigInt(before), digits)} → ${groupedDecimalOf(BigInt(after), digits)}`
  const fee =
    withheld === undefined ? '' : `, ${groupedDecimalOf(BigInt(withheld), digits)} more kept by the transfer fee`
  return `${address}${name}${ownerText}${state}  ${amount.startsWith('-') ? '' : '+'}${amount} ${unit}  (${range}${fee})`
}
