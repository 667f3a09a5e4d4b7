/**
 * Mints or burns for every wallet of a list once, however often the command is run again; freezes or thaws every wallet
 * that is not.
 */
import { resolve } from 'node:path'
import type { TokenMinting } from '../../src/api/token-acts.ts'
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import type { ListForm } from '../../src/merkle/column-plan.ts'
import { entryAt, listFromEntries, listHash } from '../../src/merkle/entry-list.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { type BatchAct, paidWallets, recipientsOf, type SendRun, tryBatch } from '../airdrops/sending/batch.ts'
import { isSentBatch, type PaidWallet, SEND_JOURNAL, SendJournal, type SendTerms } from '../airdrops/sending/journal.ts'
import { workThroughBatches } from '../airdrops/sending/list.ts'
import { refuseOtherJournal } from '../airdrops/sending/list-terms.ts'
import { proposeBatches } from '../airdrops/sending/propose.ts'
import { rowPaid, rowToSend, type SendRow } from '../airdrops/sending/rows.ts'
import { Amount, groupedDecimalOf, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { stateFile, writeStateFile } from '../cli/state-file.ts'
import { type ColumnInputs, columnChoices, type ListNotes, withListNotes } from '../lists/column-flags.ts'
import { readListRows } from '../lists/csv.ts'
import type { JournalKind } from '../lists/journal.ts'
import { FAILED_WORDS, rowsOutcome } from '../lists/outcome.ts'
import { refuseStandardInput, runList } from '../lists/run.ts'
import { amountWords, type ListToken, listToken } from '../merkle/list-units.ts'
import { readRecipients } from '../merkle/recipients.ts'
import { refuseUnconfirmable } from '../signing/confirm.ts'
import { checkedBuild, demanding, signingFor } from '../signing/demand.ts'
import { actsOnWallets } from '../signing/demanded-tokens.ts'
import { approverField, programsField, txVersionField } from '../signing/flags.ts'
import { type Funds, lamportsOf, requireFunds, solPayment, totalLines } from '../signing/funds.ts'
import { platformAddress } from '../signing/platform-wallet.ts'
import { listSignerLines, previewLine } from '../signing/preview.ts'
import type { ActFlags } from '../signing/run-act.ts'
import { forecastOf, wouldFail } from '../signing/run-failures.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'

export type ListedAct = 'mint' | 'burn' | 'freeze' | 'thaw'

const WORDS = {
  mint: { title: 'Mint', doing: 'Minting', done: 'minted', list: 'recipients', to: 'to' },
  burn: { title: 'Burn', doing: 'Burning', done: 'burned', list: 'holders', to: 'from' },
  freeze: { title: 'Freeze', doing: 'Freezing', done: 'frozen', list: 'wallets', to: 'of' },
  thaw: { title: 'Thaw', doing: 'Thawing', done: 'thawed', list: 'wallets', to: 'of' },
} as const

/** Most wallets of one request. */
const MOST_IN_REQUEST = 64

export const demandsActs = demanding('this act on these token accounts, and nothing else', actsOnWallets, {
  inOrder: true,
})

export interface ActList {
  act: ListedAct
  mint: string
  file: string
  journal: string | undefined
  raw: boolean
  allow_programs: boolean
  again: boolean
  columns: ColumnInputs
  sign_unseen?: boolean
  /** Is told what was read of the list. */
  onRead?: (notes: ListNotes) => void
  trust_journal: boolean
}

interface ActRun extends SendRun {
  kind: ListedAct
  act: BatchAct
  token: ListToken
  rows: readonly SendRow[]
}

const hasAmounts = (act: ListedAct) => act === 'mint' || act === 'burn'

export async function actOnList(session: Session, flags: ActFlags, list: ActList): Promise<CommandOutcome> {
  let read: ListNotes | null = null
  const onRead = (notes: ListNotes) => {
    read = notes
  }
  const outcome = await doList(session, flags, { ...list, onRead })
  return read === null ? outcome : withListNotes(outcome, read)
}

async function doList(session: Session, flags: ActFlags, list: ActList): Promise<CommandOutcome> {
  const { act, mint, file } = list
  const { title, to, doing } = WORDS[act]
  refuseStandardInput(file, '--from')
  const token = await listToken(session, mint)
  const listed = hasAmounts(act)
    ? await readAmounts(session, list, list.raw ? undefined : token.decimals)
    : await readWallets(session, list)
  if (flags.squads !== undefined) return proposeActs(session, flags, list, { token, listed, acting: flags.squads })
  const payer = flags.signed ? await platformAddress(session) : await signingWallet(session, flags)
  const cluster = await session.cluster()
  if (!flags.dry_run) await refuseUnconfirmable(session, cluster)
  const journal = new SendJournal(list.journal ?? `${file}.${act}.jsonl`, { mint, payer, cluster }, journalKind(act))
  journal.refuseWhileHeld()
  const known = knownList(cluster, list, { listed, journal: journal.file })
  const terms = { payer, mint, ...programsField(list) }
  const acts = { act: batchAct(act, token), terms, forecast: token, isTrusted: list.trust_journal }
  const compared = new Map<string, string | null>()
  // The chain says whether an account is frozen.
  const readPaid = () => paidWallets(session, acts, hasAmounts(act) ? journal : null, compared)
  const rows = rowsOf(listed, { paid: await readPaid(), journal }, list)
  const begun = new Set(journal.open().flatMap(({ recipients }) => recipients.map(([wallet]) => wallet)))
  const open = rows.filter(({ status, wallet }) => status === 'to send' && !begun.has(wallet))
  const run: ActRun = {
    ...{ ...acts, kind: act, token, rows, journal, keypair: flags.keypair, signed: flags.signed },
    caller: await session.caller(),
    txVersion: txVersionField(flags),
    // A wallet that is frozen twice is frozen.
    replacesUnseen: list.sign_unseen || !hasAmounts(act),
  }
  const plan = await divided(session, run, open)
  const { batches } = plan
  const question = `${title} ${hasAmounts(act) ? groupedDecimalOf(totalOf(batches.flat()), token.decimals) : 'the token'} ${hasAmounts(act) ? 'of ' : ''}${token.symbol ?? mint} ${to} ${counted(batches.flat().length + begun.size, 'wallet')}`
  return runList(session, flags, {
    question,
    isOpen: batches.length > 0 || begun.size > 0,
    begin: () => journal.begin(),
    async preview() {
      if (batches.length > 0)
        await previewActs(session, question, run, plan, { pending: begun.size, dry: flags.dry_run })
    },
    async work() {
      known.begin()
      // Another run may have done some of it during the confirmation.
      const paid = await readPaid()
      for (const row of rows) {
        const before = paid.get(row.wallet)
        if (before !== undefined) Object.assign(row, rowPaid(row, before))
      }
      await workThroughBatches(session, run, rows, {
        doing,
        batches: (left) => {
          const isLeft = new Set(left.filter(({ status }) => status === 'to send'))
          return batches.map((batch) => batch.filter((row) => isLeft.has(row))).filter((batch) => batch.length > 0)
        },
      })
    },
    outcome: (notes) => actOutcome(run, notes),
  })
}

/**
 * Where it is noted with which journal a list of amounts was begun, whoever signs it. Throws a usage problem if another
 * journal has it.
 */
function knownList(
  cluster: string | null,
  { act, mint, file, again }: ActList,
  { listed, journal }: { listed: readonly ListedWallet[]; journal: string },
): { begin(): void } {
  if (!hasAmounts(act)) return { begin() {} }
  const known = stateFile(`token-${act}s`, [cluster, mint, listHash(listFromEntries(listed))])
  const words = { done: WORDS[act].done, again: 'does it for every wallet of the list once more' }
  if (!again) refuseOtherJournal(known, { journal, name: file }, words)
  return { begin: () => writeStateFile(known, { journal: resolve(journal) }) }
}

const copiesOf = (rows: readonly SendRow[]) => rows.map((row) => ({ ...row }))

interface VaultActs {
  token: ListToken
  listed: readonly ListedWallet[]
  acting: ActingVault
}

/** Has a vault do it: each batch of wallets is one proposal. */
async function proposeActs(
  session: Session,
  flags: ActFlags,
  list: ActList,
  { token, listed, acting }: VaultActs,
): Promise<CommandOutcome> {
  const { act, mint, file } = list
  const { title, done, to } = WORDS[act]
  const { vault } = acting
  const journal = list.journal ?? `${file}.${act}.proposals.json`
  const known = knownList(await session.cluster(), list, { listed, journal })
  const built = batchAct(act, token)
  const terms = { payer: vault, mint, ...programsField(list), ...approverField({ squads: acting }) }
  const run = { act: built, terms, txVersion: txVersionField(flags) }
  return proposeBatches(session, flags, acting, {
    name: file,
    journal,
    rows: rowsOf(listed, { paid: new Map(), journal: null }, list),
    what: (wallets) => `${title} ${token.symbol ?? mint} ${to} ${counted(wallets, 'wallet')}`,
    of: { mint, act },
    done: (amount, isExecuted) =>
      `${isExecuted ? 'had' : 'is to have'} ${hasAmounts(act) ? `${amount} raw units` : 'its account'} ${done}`,
    async plan(fresh, promised) {
      const { batches, supply } = await divided(session, run, fresh)
      const total = promised + totalOf(batches.flat())
      if (batches.length === 0) return { batches, lines: [previewLine('mint', mint)] }
      return { batches, lines: [previewLine('mint', mint), ...supplyLines(act, token, { supply, total })] }
    },
    isMissing: ({ amount }) => !hasAmounts(act) || amount > 0n,
    isUndone: hasAmounts(act) ? undefined : async (rows) => (await tryBatch(session, run, copiesOf(rows))) !== null,
    begin: known.begin,
    call: (rows, more) => built.call(session, { ...terms, ...txVersionField(flags), ...more }, rows),
    demand: built.demand,
  })
}

const totalOf = (rows: readonly SendRow[]) => rows.reduce((sum, { amount }) => sum + amount, 0n)

const journalKind = (act: ListedAct): JournalKind<SendTerms> => ({
  ...SEND_JOURNAL,
  kind: `svc-token-${act}s`,
  command: `\`svc tokens ${act}\``,
  doing: WORDS[act].doing.toLowerCase(),
  names: { mint: 'the token', payer: 'the signer', cluster: 'the cluster' },
  anew: 'do the list as a new one',
  loss: `another --journal ${hasAmounts(act) ? 'does everything again' : 'has no transactions of earlier runs'}`,
  isEntry: isSentBatch,
})

interface ListedWallet {
  wallet: string
  amount: bigint
}

async function readAmounts(
  session: Session,
  { file, mint, columns, onRead }: ActList,
  decimals: number | undefined,
): Promise<ListedWallet[]> {
  const { list, ...read } = await readRecipients(
    file,
    { ...columns, mint, decimals, duplicates: undefined },
    session.ui,
  )
  onRead?.(read)
  if (list.locked !== undefined) throw usage(`${file} has locked amounts, which this would ignore`, { param: '--from' })
  return Array.from({ length: list.count }, (_, i) => entryAt(list, i))
}

/** What holders have decides nothing when their accounts are frozen or thawed. */
const WALLET_FORM: ListForm = { reads: ['wallet'], needs: ['wallet'], leaves: ['amount', 'units'] }

/** Reads a CSV whose first or only column is the wallet; throws a usage problem with line and column of each fault. */
function readWallets({ ui }: Session, { file, mint, columns, onRead }: ActList): Promise<ListedWallet[]> {
  const known = new Set<string>()
  const format = {
    ...{ form: WALLET_FORM, choices: columnChoices({ ...columns, mint }), example: 'a wallet', onRead },
    withoutHeader: () => ['wallet', 'amount'],
  }
  return readListRows(ui, file, format, ({ fields, offset, offsetOf }, faults) => {
    const wallet = String(fields.get('wallet')?.value ?? '')
    const fault =
      walletKey(wallet) === undefined
        ? `not a wallet: ${walletFault(wallet)}`
        : known.has(wallet)
          ? 'is in the list twice'
          : null
    if (fault !== null) faults.push({ offset: offsetOf('wallet'), message: `wallet ${fault}` })
    known.add(wallet)
    return fault === null ? [{ wallet, amount: 0n, offset }] : []
  })
}

/** Throws a usage problem if the list now has another amount for a wallet, or lacks one that may still be done. */
function rowsOf(
  listed: readonly ListedWallet[],
  { paid, journal }: { paid: ReadonlyMap<string, PaidWallet>; journal: SendJournal | null },
  { act, file }: ActList,
): SendRow[] {
  const open = new Map((journal?.open() ?? []).flatMap(({ recipients }) => recipients))
  const earlier = (wallet: string, before: string | undefined, now: string) =>
    usage(`${wallet} had ${before} raw units ${WORDS[act].done} in an earlier run, and ${file} has ${now} for it now`, {
      next: `put the row back as it was; it is in ${journal?.file}`,
    })
  const rows = listed.map(({ wallet, amount }): SendRow => {
    const done = paid.get(wallet)
    const before = done?.amount ?? open.get(wallet)
    if (before !== undefined && before !== String(amount)) throw earlier(wallet, before, String(amount))
    open.delete(wallet)
    const row = rowToSend(wallet, amount)
    if (done !== undefined) return rowPaid(row, done)
    return hasAmounts(act) && amount === 0n ? { ...row, status: 'left out', note: 'its amount is 0' } : row
  })
  const [gone] = open.keys()
  if (gone !== undefined) throw earlier(gone, open.get(gone), 'no row')
  return rows
}

function batchAct(act: ListedAct, { mint, decimals }: ListToken): BatchAct {
  return {
    list: WORDS[act].list,
    done: WORDS[act].done,
    call({ client: { tokens } }, terms, rows, options) {
      const body = { ...terms, mint }
      if (act === 'mint') return tokens.mint({ ...body, recipients: recipientsOf(rows) }, options)
      if (act === 'burn') return tokens.burn({ ...body, holders: recipientsOf(rows) }, options)
      const wallets = rows.map(({ wallet }) => wallet)
      return act === 'freeze'
        ? tokens.freeze({ ...body, wallets }, options)
        : tokens.thawList({ ...body, wallets }, options)
    },
    demand: (of, rows) =>
      demandsActs(of, {
        ...{ act, mint, decimals },
        wallets: rows.map(({ wallet, amount }) => ({ wallet, amount: hasAmounts(act) ? amount : null })),
      }),
  }
}

/** A list in transactions, none of them signed. */
interface Divided {
  batches: SendRow[][]
  /** The first transaction; null if there is none. */
  first: string | null
  /** Lamports in all. */
  rent: bigint
  fee: bigint
  /** Raw units of the token that exist now. */
  supply: bigint
}

/** Builds every transaction without signing, so that the cost and whoever is left out are known before. */
async function divided(
  session: Session,
  run: Pick<ActRun, 'act' | 'terms' | 'txVersion'>,
  open: readonly SendRow[],
): Promise<Divided> {
  const bar = session.ui.progress('Reading the chain')
  const found: Divided = { batches: [], first: null, rent: 0n, fee: 0n, supply: 0n }
  const warnings: string[] = []
  const all = open.filter(({ status }) => status === 'to send')
  let [waiting, size] = [[...all], MOST_IN_REQUEST]
  while (waiting.length > 0) {
    const part = waiting.splice(0, size)
    const later: SendRow[] = []
    const tried = await tryBatch(session, run, part, later)
    waiting = [...later, ...waiting]
    if (tried !== null) {
      const { data, rows } = tried as {
        data: Partial<TokenMinting> & { transaction: string; warnings?: string[] }
        rows: SendRow[]
      }
      found.first ??= data.transaction
      if (found.batches.length === 0) found.supply = BigInt(data.supply ?? 0)
      found.fee += BigInt((await session.wallet.describe(data.transaction)).fee)
      found.rent += BigInt(data.rent ?? 0)
      warnings.push(...(data.warnings ?? []))
      found.batches.push(rows)
      if (later.length > 0) size = rows.length
    }
    bar(all.length - waiting.length, all.length)
  }
  session.ui.clear()
  for (const warning of warnings) session.ui.warn(warning)
  return found
}

/** The supply before and after. Throws a usage problem if the mint cannot have that much. */
function supplyLines(
  act: ListedAct,
  { decimals }: ListToken,
  { supply, total }: { supply: bigint; total: bigint },
): string[] {
  if (!hasAmounts(act)) return []
  if (act === 'mint' && supply + total > MAX_U64) {
    throw usage(`the list comes to ${total} raw units, and only ${MAX_U64 - supply} more can be minted`, {
      param: '--from',
    })
  }
  const units = (amount: bigint) => groupedDecimalOf(amount, decimals)
  return [previewLine('supply', `${units(supply)} → ${units(act === 'mint' ? supply + total : supply - total)}`)]
}

/** Shows what the list does and costs. Throws if it would fail. */
async function previewActs(
  session: Session,
  question: string,
  run: ActRun,
  { batches, first, rent, fee, supply }: Divided,
  { pending, dry }: { pending: number; dry: boolean },
): Promise<void> {
  const { kind, token, terms, rows } = run
  if (first !== null) {
    const demand = await run.act.demand(signingFor(session, terms.payer), batches[0] ?? [])
    const forecast = await forecastOf(session, await checkedBuild(session, first, demand), terms.payer)
    if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  }
  const doable = batches.flat()
  const paid = solPayment(terms.payer, rent + fee, await lamportsOf(session, terms.payer))
  const funds: Funds = { payments: [paid], isExact: true, fault: null }
  const cluster = await session.cluster()
  const left = rows.filter(({ status }) => status === 'left out' || status === 'unknown').length
  await session.ui.preview([
    question,
    previewLine('cluster', cluster ?? 'only the API knows'),
    ...listSignerLines(terms.payer, run.signed, 'here: each transaction before it is signed, wallet by wallet'),
    previewLine('mint', terms.mint),
    previewLine(
      'wallets',
      `${rows.length}, of which ${doable.length} are to be ${WORDS[kind].done} and ${left} are left out`,
    ),
    ...(pending === 0
      ? []
      : [previewLine('first', `${pending} wallets of an earlier run, whose transactions may still land`)]),
    ...(hasAmounts(kind)
      ? [
          previewLine('amounts', amountWords([BigUint64Array.from(doable, ({ amount }) => amount)], token)),
          ...supplyLines(kind, token, { supply, total: totalOf(doable) }),
        ]
      : []),
    previewLine('sending', counted(batches.length, 'transaction')),
    previewLine('rent', `${solOf(rent)} SOL for missing token accounts`),
    previewLine('fees', `${solOf(fee)} SOL`),
    ...totalLines(funds, terms.payer),
    previewLine('journal', run.journal.file),
  ])
  if (!dry) requireFunds(funds, cluster)
}

const DONE: readonly SendRow['status'][] = ['sent', 'sent already']

function actOutcome({ kind, token, rows, journal }: ActRun, notes: readonly string[]): CommandOutcome {
  const { done } = WORDS[kind]
  const word: Partial<Record<SendRow['status'], string>> = {
    sent: done,
    'sent already': `${done} already`,
    'to send': 'to do',
  }
  const wordOf = ({ status }: SendRow) => word[status] ?? status
  const total = rows.reduce((sum, { status, amount }) => (DONE.includes(status) ? sum + amount : sum), 0n)
  const amounts = hasAmounts(kind)
  const outcome = rowsOutcome({
    rows,
    journal: journal.file,
    fields: { mint: token.mint, ...(amounts ? { amount: String(total) } : {}) },
    statuses: [
      ['sent', done, done],
      ['sent already', `${done}_already`, `${done} already`],
      ['to send', 'to_do', 'to do'],
      ['left out', 'left_out', 'left out'],
      ['unknown', 'unknown', 'not known'],
      ['failed', 'failed', FAILED_WORDS],
    ],
    records: [
      WORDS[kind].list,
      (row) => ({
        wallet: row.wallet,
        ...(amounts ? { amount: String(row.amount) } : {}),
        status: wordOf(row),
        note: row.note,
        signature: row.signature,
      }),
    ],
    columns: ['wallet', ...(amounts ? ['amount'] : []), 'status', 'signature'],
    cells: (row) => [
      row.wallet,
      ...(amounts ? [new Amount(row.amount, token.decimals)] : []),
      wordOf(row),
      row.signature,
    ],
    noteOf: (row) => (row.note === null || DONE.includes(row.status) ? null : row.note),
    notes,
    isDone: rows.every(({ status, amount }) => DONE.includes(status) || (amounts && amount === 0n)),
  })
  return notes.length > 0 ? { ...outcome, exitCode: 0 } : outcome
}
