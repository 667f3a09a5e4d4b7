/** Proposes a list of transfers to a multisig: each batch of wallets is one proposal, and each wallet is paid once. */

import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Proposal } from '../../../src/api/proposals.ts'
import type { TokenTransfer } from '../../../src/api/token-transfers.ts'
import { listHash } from '../../../src/merkle/entry-list.ts'
import { groupedDecimalOf } from '../../cli/amounts.ts'
import type { CommandOutcome } from '../../cli/command.ts'
import type { Session } from '../../cli/session.ts'
import { stateFile, writeStateFile } from '../../cli/state-file.ts'
import { fieldsOf } from '../../lists/journal.ts'
import { patiently } from '../../lists/patience.ts'
import { knownProposal, proposalListJournal, proposeRows, type RowToPropose } from '../../lists/propose-rows.ts'
import { approverField, txVersionField } from '../../signing/flags.ts'
import { previewLine } from '../../signing/preview.ts'
import { requireUnsigned } from '../../signing/run-act.ts'
import type { ActingVault } from '../../signing/wallet.ts'
import { EXIT, usage } from '../../ui/problem.ts'
import { counted } from '../../ui/words.ts'
import { demandsTransfers } from './batch.ts'
import type { SendTermsOfList } from './journal.ts'
import { type ListToSend, refuseOtherJournal, requireTokens, SENDS_FOLDER, type SendFlags } from './list-terms.ts'
import { leftOutLine, writeSentRows } from './outcome.ts'
import { batchesOf, planRows, rowsOf, type SendForecast, type SendRow } from './rows.ts'

/** A batch as the journal has it: its wallets with their amounts, which are the id of its row. */
interface Batch {
  id: string
  rows: SendRow[]
}

export async function proposeSends(
  session: Session,
  flags: SendFlags,
  list: ListToSend,
  acting: ActingVault,
): Promise<CommandOutcome> {
  const { vault } = acting
  const { mint, symbol } = list.token
  const cluster = await session.cluster()
  const journal = proposalListJournal(list.proposals, { payer: vault, cluster })
  journal.refuseWhileHeld()
  const known = stateFile(SENDS_FOLDER, [cluster, mint, listHash(list.list)])
  if (!flags.again) refuseOtherJournal(known, { name: list.name, journal: list.proposals })
  const rows = rowsOf(list.list, null, list.name)
  const byWallet = new Map(rows.map((row) => [row.wallet, row]))
  const { kept, promised } = await keptBatches(session, journal.entries, byWallet, list)
  const terms: SendTermsOfList = {
    payer: vault,
    mint,
    allow_programs: flags.allow_programs,
    accept_transfer_fee: flags.accept_transfer_fee,
    ...(list.airdrop_id === undefined ? {} : { airdrop_id: list.airdrop_id }),
  }
  const isKept = new Set(kept.flatMap((batch) => batch.rows))
  const fresh = rows.filter((row) => !isKept.has(row))
  const forecast = await planRows(session, terms, fresh)
  // What the vault executes has more room, but the transaction that executes it names the same accounts.
  const open = forecast === null ? [] : batchesOf(fresh, forecast.fits.v0)
  const needed = promised + open.flat().reduce((sum, { amount }) => sum + amount, 0n)
  const decimals = forecast?.decimals ?? list.token.decimals
  if (forecast !== null && !flags.dry_run) requireTokens(terms, needed, forecast)
  const batches = [...kept, ...open.map((part) => ({ id: idOf(part), rows: part }))]
  const left = rows.filter(({ status, amount }) => status === 'left out' && amount > 0n)
  const { keypair, tx_version, dry_run } = flags
  const signing = { keypair, tx_version, dry_run, wait: undefined, build_only: false, force: false }
  const {
    exitCode,
    notes = [],
    ...outcome
  } = await proposeRows<TokenTransfer & { mode: 'unsigned' }>(session, signing, acting, {
    file: list.name,
    journal: list.proposals,
    rows: async () => ({
      question: `Send ${symbol ?? mint} to ${counted(batches.flatMap((batch) => batch.rows).length, 'wallet')}`,
      rows: batches.map((batch, i) =>
        rowOf(session, batch, i, {
          acting,
          terms,
          fields: txVersionField(flags),
          decimals,
          begin: () => begin(known, list),
        }),
      ),
      lines: [
        previewLine('mint', mint),
        ...(forecast === null ? [] : tokenLines(forecast, needed)),
        ...(left.length === 0 ? [] : [previewLine('left out', counted(left.length, 'wallet'))]),
      ],
    }),
  })
  if (flags.out !== undefined) {
    if (!flags.dry_run) await markPaid(session, batches, proposalListJournal(list.proposals, { payer: vault, cluster }))
    await writeSentRows(flags.out, rows)
  }
  return {
    ...outcome,
    notes: [...left.map(({ wallet, note }) => leftOutLine(wallet, note ?? '')), ...notes],
    exitCode: left.length > 0 && !flags.dry_run ? EXIT.failed : (exitCode ?? EXIT.done),
  }
}

const begin = (known: string, list: ListToSend) => writeStateFile(known, { journal: resolve(list.proposals) })

const tokenLines = ({ held, decimals }: SendForecast, needed: bigint) => [
  previewLine(
    'tokens',
    `${groupedDecimalOf(needed, decimals)} with what waits, of ${groupedDecimalOf(held, decimals)} in the vault`,
  ),
]

const idOf = (rows: readonly SendRow[]) => JSON.stringify(rows.map(({ wallet, amount }) => [wallet, String(amount)]))

function rowOf(
  session: Session,
  { id, rows: recipients }: Batch,
  i: number,
  {
    acting,
    terms,
    fields,
    decimals,
    begin: begun,
  }: {
    acting: ActingVault
    terms: SendTermsOfList
    fields: { tx_version?: 1 }
    decimals: number
    begin(): void
  },
): RowToPropose<TokenTransfer & { mode: 'unsigned' }> {
  const [first] = recipients
  const name = `${first?.wallet ?? ''}${recipients.length > 1 ? ` and ${recipients.length - 1} more` : ''}`
  const call = async (more: { dry_run?: true } = {}) => {
    const { data } = requireUnsigned(
      await patiently(session, () =>
        session.client.tokenTransfers.create({
          ...terms,
          ...fields,
          ...approverField({ squads: acting }),
          recipients: recipients.map(({ wallet, amount }) => ({ wallet, amount: String(amount) })),
          ...more,
        }),
      ),
    )
    return data
  }
  return {
    id,
    line: i + 1,
    name,
    place: `batch ${i + 1}`,
    run: {
      what: `Send ${terms.mint} to ${counted(recipients.length, 'wallet')}, batch ${createHash('sha256').update(id).digest('hex').slice(0, 16)}`,
      async build() {
        begun()
        return { data: await call() }
      },
      demand: (of) => demandsTransfers(of, { mint: terms.mint, decimals, recipients }),
    },
    tryBuild: () => call({ dry_run: true }),
  }
}

type Entries = ReturnType<typeof proposalListJournal>['entries']
type Fate = 'open' | 'executed' | 'over'

/**
 * The batches of earlier runs that are still those of the list, and what they will take from the vault. One whose list
 * has changed since counts only if it can no longer be executed. Throws a usage problem for a wallet that is paid, or
 * may still be, and has another amount now.
 */
async function keptBatches(
  session: Session,
  entries: Entries,
  byWallet: ReadonlyMap<string, SendRow>,
  list: ListToSend,
): Promise<{ kept: Batch[]; promised: bigint }> {
  const kept: Batch[] = []
  const covered = new Set<string>()
  let promised = 0n
  // The newest first: a batch that is over may have been divided anew.
  for (const [id, { proposals }] of [...entries].reverse()) {
    const pairs = pairsOf(id, list.proposals)
    const fate = await fateOf(session, proposals)
    const changed = pairs.find(([wallet, amount]) => String(byWallet.get(wallet)?.amount) !== amount)
    if (fate === 'over' && (changed !== undefined || pairs.some(([wallet]) => covered.has(wallet)))) continue
    if (changed !== undefined) refuseChanged(changed, { fate, proposals, now: byWallet.get(changed[0])?.amount, list })
    const rows = pairs.flatMap(([wallet]) => byWallet.get(wallet) ?? [])
    for (const { wallet, amount } of rows) {
      covered.add(wallet)
      if (fate !== 'executed') promised += amount
    }
    kept.unshift({ id, rows })
  }
  return { kept, promised }
}

function refuseChanged(
  [wallet, amount]: readonly [string, string],
  {
    fate,
    proposals,
    now,
    list,
  }: { fate: Fate; proposals: readonly string[]; now: bigint | undefined; list: ListToSend },
): never {
  const listed = now === undefined ? 'the list has no such wallet now' : `the list has ${now} for it now`
  const done = fate === 'executed' ? 'was sent' : 'is to be sent'
  throw usage(`${wallet} ${done} ${amount} raw units by the proposal ${proposals.join(', ')}; ${listed}`, {
    next:
      fate === 'executed'
        ? 'put the row back; what is owed beyond it goes into a list of its own, with another --journal'
        : `put the row back as it was (${list.proposals} has it), or let the members reject the proposal`,
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
  throw usage(`${file} is not a journal of a list that is sent by a vault`, { param: '--journal' })
}

/** The rows that were executed, with their transactions. */
async function markPaid({ client }: Session, batches: readonly Batch[], { entries }: { entries: Entries }) {
  for (const { id, rows } of batches) {
    for (const proposal of entries.get(id)?.proposals ?? []) {
      const { status, signature } = await knownProposal(client, proposal)
      if (status === 'executed') for (const row of rows) Object.assign(row, { status: 'sent already', signature })
      else for (const row of rows) row.note = `waits in the proposal ${proposal}`
    }
  }
}
