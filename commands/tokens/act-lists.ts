/** Mints, burns, freezes or thaws for every wallet of a list once, however often the command is run again. */
import { resolve } from 'node:path'
import type { TokenMinting } from '../../src/api/token-acts.ts'
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import { entryAt, listFromEntries, listHash } from '../../src/merkle/entry-list.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { type BatchAct, type SendRun, tryBatch } from '../airdrops/sending/batch.ts'
import { isSentBatch, SEND_JOURNAL, SendJournal, type SendTerms } from '../airdrops/sending/journal.ts'
import { workThroughBatches } from '../airdrops/sending/list.ts'
import { refuseOtherJournal } from '../airdrops/sending/list-terms.ts'
import type { SendRow } from '../airdrops/sending/rows.ts'
import { Amount, groupedDecimalOf, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { stateFile, writeStateFile } from '../cli/state-file.ts'
import { readRows } from '../lists/csv.ts'
import type { JournalKind } from '../lists/journal.ts'
import { FAILED_WORDS, rowsOutcome } from '../lists/outcome.ts'
import { runList } from '../lists/run.ts'
import { amountWords, type ListToken, listToken } from '../merkle/list-units.ts'
import { readRecipients } from '../merkle/recipients.ts'
import { refuseVault } from '../signing/acting-vault.ts'
import { refuseUnconfirmable } from '../signing/confirm.ts'
import { checkedBuild, demanding, signingFor } from '../signing/demand.ts'
import { actsOnWallets } from '../signing/demanded-tokens.ts'
import { programsField, txVersionField } from '../signing/flags.ts'
import { type Funds, lamportsOf, requireFunds, solPayment, totalLines } from '../signing/funds.ts'
import { platformAddress } from '../signing/platform-wallet.ts'
import { listSignerLines, previewLine } from '../signing/preview.ts'
import { type ActFlags, refuseOwnWithSigned } from '../signing/run-act.ts'
import { forecastOf, wouldFail } from '../signing/run-failures.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
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
}

interface ActRun extends SendRun {
  kind: ListedAct
  token: ListToken
  rows: readonly SendRow[]
}

const hasAmounts = (act: ListedAct) => act === 'mint' || act === 'burn'

export async function actOnList(session: Session, flags: ActFlags, list: ActList): Promise<CommandOutcome> {
  const { act, mint, file } = list
  const { title, done, to, doing } = WORDS[act]
  refuseVault(flags, `\`svc tokens ${act} --from\` is signed by your own wallet, not by a vault`)
  refuseOwnWithSigned(flags)
  const token = await listToken(session, mint)
  const listed = hasAmounts(act)
    ? await readAmounts(session, file, list.raw ? undefined : token.decimals)
    : await readWallets(file)
  const payer = flags.signed ? await platformAddress(session) : await signingWallet(session, flags)
  const cluster = await session.cluster()
  if (!flags.dry_run) refuseUnconfirmable(session, cluster)
  const journal = new SendJournal(list.journal ?? `${file}.${act}.jsonl`, { mint, payer, cluster }, journalKind(act))
  journal.refuseWhileHeld()
  const known = hasAmounts(act)
    ? stateFile(`token-${act}s`, [cluster, mint, payer, listHash(listFromEntries(listed))])
    : null
  const named = { journal: journal.file, name: file }
  if (known !== null && !list.again)
    refuseOtherJournal(known, named, { done, again: `does it for every wallet of the list once more` })
  const rows = rowsOf(listed, journal, list)
  const begun = new Set(journal.open().flatMap(({ recipients }) => recipients.map(([wallet]) => wallet)))
  const open = rows.filter(({ status, wallet }) => status === 'to send' && !begun.has(wallet))
  const run: ActRun = {
    ...{ kind: act, token, rows, journal, forecast: token, keypair: flags.keypair, signed: flags.signed },
    act: batchAct(act, token, payer),
    terms: { payer, mint, ...programsField(list) },
    caller: await session.caller(),
    txVersion: txVersionField(flags),
  }
  const question = `${title} ${hasAmounts(act) ? groupedDecimalOf(totalOf(open), token.decimals) : 'the token'} ${hasAmounts(act) ? 'of ' : ''}${token.symbol ?? mint} ${to} ${counted(open.length + begun.size, 'wallet')}`
  let batches: SendRow[][] = []
  return runList(session, flags, {
    question,
    isOpen: open.length > 0 || begun.size > 0,
    begin: () => journal.begin(),
    async preview() {
      if (open.length > 0)
        batches = await previewActs(session, question, run, open, { pending: begun.size, dry: flags.dry_run })
    },
    async work() {
      if (known !== null) writeStateFile(known, { journal: resolve(journal.file) })
      // Another run may have done some of it during the confirmation.
      const paid = journal.paid()
      for (const row of rows) {
        const before = paid.get(row.wallet)
        if (before !== undefined) Object.assign(row, { status: 'sent already', signature: before.signature })
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

const totalOf = (rows: readonly SendRow[]) => rows.reduce((sum, { amount }) => sum + amount, 0n)

const journalKind = (act: ListedAct): JournalKind<SendTerms> => ({
  ...SEND_JOURNAL,
  kind: `svc-token-${act}s`,
  command: `\`svc tokens ${act}\``,
  doing: WORDS[act].doing.toLowerCase(),
  names: { mint: 'the token', payer: 'the signer', cluster: 'the cluster' },
  anew: 'do the list as a new one',
  loss: 'another --journal does everything again',
  isEntry: isSentBatch,
})

interface ListedWallet {
  wallet: string
  amount: bigint
}

async function readAmounts(session: Session, file: string, decimals: number | undefined): Promise<ListedWallet[]> {
  const { list } = await readRecipients(file, { decimals, duplicates: undefined }, session.ui)
  if (list.locked !== undefined) throw usage(`${file} has locked amounts, which this would ignore`, { param: '--from' })
  return Array.from({ length: list.count }, (_, i) => entryAt(list, i))
}

/** Reads a CSV whose first or only column is the wallet; throws a usage problem with line and column of each fault. */
function readWallets(file: string): Promise<ListedWallet[]> {
  const columns = { all: ['wallet', 'amount'], needed: ['wallet'], withoutHeader: () => ['wallet', 'amount'] }
  const known = new Set<string>()
  return readRows(file, columns, 'a wallet', ({ fields, offset, offsetOf }, faults) => {
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
function rowsOf(listed: readonly ListedWallet[], journal: SendJournal, { act, file }: ActList): SendRow[] {
  const [paid, open] = [journal.paid(), new Map(journal.open().flatMap(({ recipients }) => recipients))]
  const earlier = (wallet: string, before: string | undefined, now: string) =>
    usage(`${wallet} had ${before} raw units ${WORDS[act].done} in an earlier run, and ${file} has ${now} for it now`, {
      next: `put the row back as it was; it is in ${journal.file}`,
    })
  const rows = listed.map(({ wallet, amount }): SendRow => {
    const done = paid.get(wallet)
    const before = done?.amount ?? open.get(wallet)
    if (before !== undefined && before !== String(amount)) throw earlier(wallet, before, String(amount))
    open.delete(wallet)
    const rest = { wallet, amount, note: null, signature: done?.signature ?? null, opens: false }
    if (done !== undefined) return { ...rest, status: 'sent already' }
    if (hasAmounts(act) && amount === 0n) return { ...rest, status: 'left out', note: 'its amount is 0' }
    return { ...rest, status: 'to send' }
  })
  const [gone] = open.keys()
  if (gone !== undefined) throw earlier(gone, open.get(gone), 'no row')
  return rows
}

function batchAct(act: ListedAct, { mint, decimals }: ListToken, payer: string): BatchAct {
  const amounts = (rows: readonly SendRow[]) => rows.map(({ wallet, amount }) => ({ wallet, amount: String(amount) }))
  return {
    list: WORDS[act].list,
    done: WORDS[act].done,
    call({ client: { tokens } }, terms, rows, options) {
      const body = { ...terms, mint }
      if (act === 'mint') return tokens.mint({ ...body, recipients: amounts(rows) }, options)
      if (act === 'burn') return tokens.burn({ ...body, holders: amounts(rows) }, options)
      const wallets = rows.map(({ wallet }) => wallet)
      return act === 'freeze'
        ? tokens.freeze({ ...body, wallets }, options)
        : tokens.thawList({ ...body, wallets }, options)
    },
    demand: (session, rows) =>
      demandsActs(signingFor(session, payer), {
        ...{ act, mint, decimals },
        wallets: rows.map(({ wallet, amount }) => ({ wallet, amount: hasAmounts(act) ? amount : null })),
      }),
  }
}

/**
 * Builds every transaction without signing, so that the cost and whoever is left out are known before. Returns the
 * batches.
 */
async function previewActs(
  session: Session,
  question: string,
  run: ActRun,
  open: readonly SendRow[],
  { pending, dry }: { pending: number; dry: boolean },
): Promise<SendRow[][]> {
  const { kind, token, terms, rows } = run
  const bar = session.ui.progress('Reading the chain')
  const batches: SendRow[][] = []
  let [waiting, size, rent, fee, supply] = [[...open], MOST_IN_REQUEST, 0n, 0n, 0n]
  while (waiting.length > 0) {
    const part = waiting.splice(0, size)
    const later: SendRow[] = []
    const tried = await tryBatch(session, run, part, later)
    waiting = [...later, ...waiting]
    if (tried !== null) {
      const { data, rows: batch } = tried as { data: Partial<TokenMinting> & { transaction: string }; rows: SendRow[] }
      if (batches.length === 0) {
        const demand = await run.act?.demand(session, batch)
        if (demand === undefined) throw new Error('a list without an act was started')
        const forecast = await forecastOf(session, await checkedBuild(session, data.transaction, demand), terms.payer)
        if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
        supply = BigInt(data.supply ?? 0)
      }
      fee += BigInt((await session.wallet.describe(data.transaction)).fee)
      rent += BigInt(data.rent ?? 0)
      batches.push(batch)
      if (later.length > 0) size = batch.length
    }
    bar(open.length - waiting.length, open.length)
  }
  session.ui.clear()
  const doable = batches.flat()
  const total = totalOf(doable)
  if (kind === 'mint' && supply + total > MAX_U64) {
    throw usage(`the list comes to ${total} raw units, and only ${MAX_U64 - supply} more can be minted`, {
      param: '--from',
    })
  }
  const paid = solPayment(terms.payer, rent + fee, await lamportsOf(session, terms.payer))
  const funds: Funds = { payments: [paid], isExact: true, fault: null }
  const cluster = await session.cluster()
  const units = (amount: bigint) => groupedDecimalOf(amount, token.decimals)
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
          previewLine('supply', `${units(supply)} → ${units(kind === 'mint' ? supply + total : supply - total)}`),
        ]
      : []),
    previewLine('sending', counted(batches.length, 'transaction')),
    previewLine('rent', `${solOf(rent)} SOL for missing token accounts`),
    previewLine('fees', `${solOf(fee)} SOL`),
    ...totalLines(funds, terms.payer),
    previewLine('journal', run.journal.file),
  ])
  if (!dry) requireFunds(funds, cluster)
  return batches
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
