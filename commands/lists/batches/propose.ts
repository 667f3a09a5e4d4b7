/** Proposes what a list does to wallets to a multisig: each batch of them is one proposal, and each wallet is in one. */

import { createHash } from 'node:crypto'
import type { Proposal } from '../../../src/api/proposals.ts'
import type { CommandOutcome } from '../../cli/command.ts'
import type { Session } from '../../cli/session.ts'
import { approverField, termsField } from '../../signing/flags.ts'
import { previewLine } from '../../signing/preview.ts'
import { requireUnsigned, type Unsigned } from '../../signing/run-act.ts'
import type { ActingVault } from '../../signing/wallet.ts'
import { EXIT, usage } from '../../ui/problem.ts'
import { counted } from '../../ui/words.ts'
import { fieldsOf } from '../journal.ts'
import { firstNotes } from '../outcome.ts'
import { patiently } from '../patience.ts'
import {
  knownProposal,
  type ProposalListJournal,
  proposalListJournal,
  proposeRows,
  type RowToPropose,
} from '../propose-rows.ts'
import { type BatchAnswer, type SendRow, type WalletAct, walletAct } from './act.ts'
import { tryBatch } from './batch.ts'
import { knownList, termsOf, type WalletList, type WalletListFlags } from './list.ts'
import { leftOutLine, writeSentRows } from './outcome.ts'
import { planOfVault, totalOf } from './plan.ts'
import { rowsOf } from './rows.ts'

/** A batch as the journal has it: its wallets with their amounts, which are the id of its row. */
interface Batch {
  id: string
  rows: readonly SendRow[]
  /** Whether an earlier run has proposed it, and it counts. */
  isKept: boolean
}

/** A list whose batches a vault does. */
interface ProposedList {
  act: WalletAct
  of: { mint: string; act: string }
  journal: string
  rows: readonly SendRow[]
  /** What is done to this many wallets, as in `Send ADA to 3 wallets`. */
  what(wallets: number): string
  /** Runs before a batch is stored. */
  begin(): void
  /** Builds the batch for the vault. */
  call(rows: readonly SendRow[], more: { dry_run?: true }): Promise<{ data: BatchAnswer }>
  /** Whether what was executed for some of the rows is undone by now; left out if that is not possible. */
  isUndone: ((rows: readonly SendRow[]) => Promise<boolean>) | undefined
}

/** Proposes each batch of a list once, however often the command is interrupted and run again. */
export async function proposeToWallets(
  session: Session,
  flags: WalletListFlags,
  listed: WalletList,
  acting: ActingVault,
): Promise<CommandOutcome> {
  const { token, proposals: journal } = listed
  const act = walletAct(listed.act, token)
  const { title, to } = act.words
  const known = knownList(await session.cluster(), flags, listed, journal)
  const terms = { ...termsOf(flags, listed, acting.vault), ...approverField({ squads: acting }) }
  const run = { act, terms, txTerms: termsField(flags) }
  const list: ProposedList = {
    act,
    of: { mint: token.mint, act: act.name },
    journal,
    rows: rowsOf(act, listed, { paid: new Map(), journal: null }),
    what: (wallets) => `${title} ${token.symbol ?? token.mint} ${to} ${counted(wallets, 'wallet')}`,
    begin: known.begin,
    call: (rows, more) => act.call(session, { ...terms, ...run.txTerms, ...more }, rows),
    isUndone: act.hasAmounts
      ? undefined
      : async (rows) =>
          (await tryBatch(
            session,
            run,
            rows.map((row) => ({ ...row })),
          )) !== null,
  }
  let batches: Batch[] = []
  let left: SendRow[] = []
  const { keypair, tx_version, guard, dry_run, out } = flags
  const signing = { keypair, tx_version, guard, dry_run, wait: undefined, build_only: false, force: false }
  const {
    exitCode,
    notes = [],
    ...outcome
  } = await proposeRows(session, signing, acting, {
    file: listed.name,
    journal,
    of: list.of,
    async rows(_, entries) {
      const { kept, promised } = await keptBatches(session, entries, list)
      const isKept = new Set(kept.flatMap((batch) => batch.rows))
      const plan = await planOfVault(
        session,
        run,
        list.rows.filter((row) => !isKept.has(row)),
        promised,
      )
      if (!dry_run) plan.requireTokens()
      batches = [...kept, ...plan.batches.map((part) => ({ id: idOf(part), rows: part, isKept: false }))]
      left = list.rows.filter(({ status, amount }) => status === 'left out' && (amount > 0n || !act.hasAmounts))
      return {
        question: list.what(batches.flatMap((batch) => batch.rows).length),
        rows: batches.map((batch, i) => rowOf(session, list, batch, i)),
        lines: [
          previewLine('mint', token.mint),
          ...plan.lines.slice(0, act.hasAmounts ? 1 : 0),
          ...(left.length === 0 ? [] : [previewLine('left out', counted(left.length, 'wallet'))]),
        ],
      }
    },
  })
  if (out !== undefined) {
    const terms = { payer: acting.vault, cluster: await session.cluster(), ...list.of }
    if (!dry_run) await markPaid(session, batches, proposalListJournal(journal, terms))
    await writeSentRows(out, list.rows, { decimals: token.decimals, isRaw: listed.isRaw })
  }
  return {
    ...outcome,
    notes: [...firstNotes(left.map(({ wallet, note }) => leftOutLine(wallet, note ?? ''))), ...notes],
    exitCode: left.length > 0 && !dry_run ? EXIT.failed : (exitCode ?? EXIT.done),
  }
}

const idOf = (rows: readonly SendRow[]) => JSON.stringify(rows.map(({ wallet, amount }) => [wallet, String(amount)]))

function rowOf(
  session: Session,
  list: ProposedList,
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
      demand: (of) => list.act.demand(of, rows),
    },
    demand: (of) => list.act.demand(of, rows),
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
  list: ProposedList,
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
    list: { act, journal },
  }: { fate: Fate; proposals: readonly string[]; now: bigint | undefined; list: ProposedList },
): never {
  const listed = now === undefined ? 'the list has no such wallet now' : `the list has ${now} for it now`
  throw usage(`${wallet} ${act.did(amount, fate === 'executed')} by the proposal ${proposals.join(', ')}; ${listed}`, {
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
