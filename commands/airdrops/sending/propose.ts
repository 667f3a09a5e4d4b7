/** Proposes what a list does to wallets to a multisig: each batch of them is one proposal, and each wallet is in one. */

import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Proposal } from '../../../src/api/proposals.ts'
import { listHash } from '../../../src/merkle/entry-list.ts'
import { groupedDecimalOf } from '../../cli/amounts.ts'
import type { CommandOutcome } from '../../cli/command.ts'
import type { Session } from '../../cli/session.ts'
import { stateFile, writeStateFile } from '../../cli/state-file.ts'
import { fieldsOf } from '../../lists/journal.ts'
import { firstNotes } from '../../lists/outcome.ts'
import { patiently } from '../../lists/patience.ts'
import {
  knownProposal,
  type ProposalListJournal,
  proposalListJournal,
  proposeRows,
  type RowToPropose,
} from '../../lists/propose-rows.ts'
import type { Demand, Signing } from '../../signing/demand.ts'
import { approverField, txVersionField } from '../../signing/flags.ts'
import { previewLine } from '../../signing/preview.ts'
import { requireUnsigned, type Unsigned } from '../../signing/run-act.ts'
import type { ActingVault } from '../../signing/wallet.ts'
import { EXIT, usage } from '../../ui/problem.ts'
import { counted } from '../../ui/words.ts'
import { type BatchAnswer, demandsTransfers, fittingBatches, recipientsOf } from './batch.ts'
import type { SendTermsOfList } from './journal.ts'
import { type ListToSend, refuseOtherJournal, requireTokens, SENDS_FOLDER, type SendFlags } from './list-terms.ts'
import { leftOutLine, type ReceiptUnits, writeSentRows } from './outcome.ts'
import { batchesOf, planRows, rowsOf, type SendForecast, type SendRow } from './rows.ts'

/** A batch as the journal has it: its wallets with their amounts, which are the id of its row. */
interface Batch {
  id: string
  rows: readonly SendRow[]
  /** Whether an earlier run has proposed it, and it counts. */
  isKept: boolean
}

/** A list whose batches a vault does. */
export interface BatchesToPropose {
  /** The file, or the airdrop, as messages name it. */
  name: string
  journal: string
  rows: readonly SendRow[]
  /** What is done to this many wallets, as in `Send ADA to 3 wallets`. */
  what(wallets: number): string
  /** The token, and the verb that does it. */
  of: { mint: string; act: string }
  /** What the proposals did to a wallet with this amount, or are to do, as in `was sent 5 raw units`. */
  done(amount: string, isExecuted: boolean): string
  /** Divides the rows of no earlier run, and marks who is left out; `promised` is what open proposals will take. */
  plan(fresh: readonly SendRow[], promised: bigint): Promise<{ batches: SendRow[][]; lines: readonly string[] }>
  /** Whether a row that is left out makes the list incomplete. */
  isMissing(row: SendRow): boolean
  /** Whether what was executed for some of the rows is undone by now; left out if that is not possible. */
  isUndone?: ((rows: readonly SendRow[]) => Promise<boolean>) | undefined
  /** Runs before a batch is stored. */
  begin(): void
  /** Builds the batch for the vault. */
  call(rows: readonly SendRow[], more: { dry_run?: true }): Promise<{ data: BatchAnswer }>
  demand(of: Signing, rows: readonly SendRow[]): Promise<Demand>
  /** File that gets every wallet of the list with what became of it. */
  out?: { file: string; units: ReceiptUnits } | undefined
}

type ProposeFlags = Pick<SendFlags, 'keypair' | 'tx_version' | 'dry_run'>

export async function proposeSends(
  session: Session,
  flags: SendFlags,
  list: ListToSend,
  acting: ActingVault,
): Promise<CommandOutcome> {
  const { vault } = acting
  const { mint, symbol } = list.token
  const known = stateFile(SENDS_FOLDER, [await session.cluster(), mint, listHash(list.list)])
  if (!flags.again) refuseOtherJournal(known, { name: list.name, journal: list.proposals })
  const terms: SendTermsOfList = {
    payer: vault,
    mint,
    allow_programs: flags.allow_programs,
    accept_transfer_fee: flags.accept_transfer_fee,
    ...(list.airdrop_id === undefined ? {} : { airdrop_id: list.airdrop_id }),
  }
  let { decimals } = list.token
  return proposeBatches(session, flags, acting, {
    name: list.name,
    journal: list.proposals,
    rows: rowsOf(list.list, { paid: new Map(), journal: null }, list.name),
    what: (wallets) => `Send ${symbol ?? mint} to ${counted(wallets, 'wallet')}`,
    of: { mint, act: 'send' },
    done: (amount, isExecuted) => `${isExecuted ? 'was sent' : 'is to be sent'} ${amount} raw units`,
    async plan(fresh, promised) {
      const forecast = await planRows(session, terms, fresh)
      if (forecast === null) return { batches: [], lines: [previewLine('mint', mint)] }
      // What the vault executes has more room, but the transaction that executes it names the same accounts.
      const parts = batchesOf(fresh, forecast.fits.v0)
      const needed = promised + totalOf(parts.flat())
      decimals = forecast.decimals
      if (!flags.dry_run) requireTokens(terms, needed, forecast)
      const run = { terms: { ...terms, ...approverField({ squads: acting }) }, txVersion: txVersionField(flags) }
      // Without the tokens no transaction can be tried.
      const batches = forecast.held < needed ? parts : await fittingBatches(session, run, parts)
      return { batches, lines: [previewLine('mint', mint), ...tokenLines(forecast, needed)] }
    },
    isMissing: ({ amount }) => amount > 0n,
    begin: () => writeStateFile(known, { journal: resolve(list.proposals) }),
    call: (rows, more) =>
      session.client.tokenTransfers.create({
        ...terms,
        ...txVersionField(flags),
        ...approverField({ squads: acting }),
        recipients: recipientsOf(rows),
        ...more,
      }),
    demand: (of, recipients) => demandsTransfers(of, { mint, decimals, recipients }),
    out: flags.out === undefined ? undefined : { file: flags.out, units: { decimals, isRaw: list.isRaw } },
  })
}

/** Proposes each batch of a list once, however often the command is interrupted and run again. */
export async function proposeBatches(
  session: Session,
  flags: ProposeFlags,
  acting: ActingVault,
  list: BatchesToPropose,
): Promise<CommandOutcome> {
  const { rows, of, journal } = list
  let batches: Batch[] = []
  let left: SendRow[] = []
  const { keypair, tx_version, dry_run } = flags
  const signing = { keypair, tx_version, dry_run, wait: undefined, build_only: false, force: false }
  const {
    exitCode,
    notes = [],
    ...outcome
  } = await proposeRows(session, signing, acting, {
    ...{ file: list.name, journal, of },
    async rows(_, entries) {
      const { kept, promised } = await keptBatches(session, entries, list)
      const isKept = new Set(kept.flatMap((batch) => batch.rows))
      const fresh = rows.filter((row) => !isKept.has(row))
      const { batches: open, lines } = await list.plan(fresh, promised)
      batches = [...kept, ...open.map((part) => ({ id: idOf(part), rows: part, isKept: false }))]
      left = rows.filter((row) => row.status === 'left out' && list.isMissing(row))
      return {
        question: list.what(batches.flatMap((batch) => batch.rows).length),
        rows: batches.map((batch, i) => rowOf(session, list, batch, i)),
        lines: [...lines, ...(left.length === 0 ? [] : [previewLine('left out', counted(left.length, 'wallet'))])],
      }
    },
  })
  if (list.out !== undefined) {
    const terms = { payer: acting.vault, cluster: await session.cluster(), ...of }
    if (!dry_run) await markPaid(session, batches, proposalListJournal(journal, terms))
    await writeSentRows(list.out.file, rows, list.out.units)
  }
  return {
    ...outcome,
    notes: [...firstNotes(left.map(({ wallet, note }) => leftOutLine(wallet, note ?? ''))), ...notes],
    exitCode: left.length > 0 && !dry_run ? EXIT.failed : (exitCode ?? EXIT.done),
  }
}

const tokenLines = ({ held, decimals }: SendForecast, needed: bigint) => [
  previewLine(
    'tokens',
    `${groupedDecimalOf(needed, decimals)} with what waits, of ${groupedDecimalOf(held, decimals)} in the vault`,
  ),
]

const totalOf = (rows: readonly SendRow[]) => rows.reduce((sum, { amount }) => sum + amount, 0n)

const idOf = (rows: readonly SendRow[]) => JSON.stringify(rows.map(({ wallet, amount }) => [wallet, String(amount)]))

function rowOf(
  session: Session,
  list: BatchesToPropose,
  { id, rows, isKept }: Batch,
  i: number,
): RowToPropose<Unsigned<BatchAnswer>> {
  const [first] = rows
  // That of a kept batch was asked when it was kept.
  const isUndone = isKept ? undefined : list.isUndone
  const call = async (more: { dry_run?: true } = {}) =>
    requireUnsigned(await patiently(session, () => list.call(rows, more))).data
  return {
    id,
    line: i + 1,
    name: `${first?.wallet ?? ''}${rows.length > 1 ? ` and ${rows.length - 1} more` : ''}`,
    place: `batch ${i + 1}`,
    run: {
      what: `${list.what(rows.length)}, batch ${createHash('sha256')
        .update(JSON.stringify([list.of, id]))
        .digest('hex')
        .slice(0, 16)}`,
      async build() {
        list.begin()
        return { data: await call() }
      },
      demand: (of) => list.demand(of, rows),
    },
    demand: (of) => list.demand(of, rows),
    tryBuild: () => call({ dry_run: true }),
    ...(isUndone === undefined ? {} : { isUndone: () => isUndone(rows) }),
  }
}

type Entries = ProposalListJournal['entries']
type Fate = 'open' | 'executed' | 'over'

/**
 * The batches of earlier runs that are executed or may still be, and what the latter will take from the vault; one that
 * is over or undone is divided anew. Throws a usage problem for a wallet of theirs that is gone or has another amount now.
 */
async function keptBatches(
  session: Session,
  entries: Entries,
  list: BatchesToPropose,
): Promise<{ kept: Batch[]; promised: bigint }> {
  const byWallet = new Map(list.rows.map((row) => [row.wallet, row]))
  const kept: Batch[] = []
  let promised = 0n
  for (const [id, { proposals }] of entries) {
    const pairs = pairsOf(id, list.journal)
    const fate = await fateOf(session, proposals)
    if (fate === 'over') continue
    // What the chain shows may be taken off the list once it is done.
    const mayChange = fate === 'executed' && list.isUndone !== undefined
    const changed = pairs.find(([wallet, amount]) => String(byWallet.get(wallet)?.amount) !== amount)
    if (changed !== undefined && !mayChange)
      refuseChanged(changed, { fate, proposals, now: byWallet.get(changed[0])?.amount, list })
    const batch = pairs.flatMap(([wallet]) => byWallet.get(wallet) ?? [])
    if (fate === 'executed' && (batch.length === 0 || (await list.isUndone?.(batch)))) continue
    if (fate === 'open') promised += totalOf(batch)
    kept.push({ id, rows: batch, isKept: true })
  }
  return { kept, promised }
}

function refuseChanged(
  [wallet, amount]: readonly [string, string],
  {
    fate,
    proposals,
    now,
    list: { done, journal },
  }: {
    fate: Fate
    proposals: readonly string[]
    now: bigint | undefined
    list: Pick<BatchesToPropose, 'done' | 'journal'>
  },
): never {
  const listed = now === undefined ? 'the list has no such wallet now' : `the list has ${now} for it now`
  throw usage(`${wallet} ${done(amount, fate === 'executed')} by the proposal ${proposals.join(', ')}; ${listed}`, {
    next:
      fate === 'executed'
        ? 'put the row back; what is owed beyond it goes into a list of its own, with another --journal'
        : `put the row back as it was (${journal} has it), or let the members reject the proposal`,
  })
}

/** Whether the proposals of a batch may still be executed. One that was signed may still reach the chain. */
async function fateOf({ client }: Session, ids: readonly string[]): Promise<Fate> {
  let fate: Fate = 'over'
  for (const id of ids) {
    const { status } = await knownProposal(client, id)
    if (status === 'executed') return 'executed'
    if (OPEN.includes(status)) fate = 'open'
  }
  return fate
}

const OPEN: readonly Proposal['status'][] = ['planned', 'active', 'approved']

function pairsOf(id: string, file: string): (readonly [wallet: string, amount: string])[] {
  const { pairs } = fieldsOf(`{"pairs":${id}}`)
  const isPairs =
    Array.isArray(pairs) && pairs.every((pair) => Array.isArray(pair) && pair.every((each) => typeof each === 'string'))
  if (isPairs) return pairs as [string, string][]
  throw usage(`${file} is not a journal of a list that a vault works through`, { param: '--journal' })
}

/** The rows that were executed, with their transactions. */
async function markPaid({ client }: Session, batches: readonly Batch[], { entries }: { entries: Entries }) {
  for (const { id, rows } of batches) {
    for (const proposal of entries.get(id)?.proposals ?? []) {
      const { status, signature } = await knownProposal(client, proposal)
      if (status === 'executed') for (const row of rows) Object.assign(row, { status: 'sent already', signature })
      else if (OPEN.includes(status)) {
        const note = `waits in the proposal ${proposal}`
        for (const row of rows) Object.assign(row, { status: 'unknown', note })
      }
    }
  }
}
