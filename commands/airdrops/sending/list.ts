/** Sends a token to every wallet of a list once, however often the command is interrupted and run again. */
import { resolve } from 'node:path'
import { listHash } from '../../../src/merkle/entry-list.ts'
import { LAMPORTS_PER_SIGNATURE } from '../../../src/solana/fees.ts'
import { groupedDecimalOf, solOf } from '../../cli/amounts.ts'
import type { CommandOutcome } from '../../cli/command.ts'
import type { Session } from '../../cli/session.ts'
import { stateFile, writeStateFile } from '../../cli/state-file.ts'
import { atOnce, runList, workThrough } from '../../lists/run.ts'
import { amountWords, type ListToken } from '../../merkle/list-units.ts'
import { refuseUnconfirmable } from '../../signing/confirm.ts'
import { checkedBuild, signingFor } from '../../signing/demand.ts'
import { txVersionField } from '../../signing/flags.ts'
import { type Funds, requireFunds, solPayment, totalLines } from '../../signing/funds.ts'
import { platformAddress } from '../../signing/platform-wallet.ts'
import { listSignerLines, previewLine } from '../../signing/preview.ts'
import { forecastOf, wouldFail } from '../../signing/run-failures.ts'
import { signingWallet } from '../../signing/signing-wallet.ts'
import { EXIT } from '../../ui/problem.ts'
import { batchDemand, paidWallets, type SendRun, sendBatch, tryBatch } from './batch.ts'
import { type OpenBatch, SendJournal, type SendTermsOfList } from './journal.ts'
import { type ListToSend, refuseOtherJournal, requireTokens, SENDS_FOLDER, type SendFlags } from './list-terms.ts'
import { rowsAsKnown, sendOutcome, writeSentRows } from './outcome.ts'
import { batchesOf, planRows, rowsOf, type SendForecast, type SendRow } from './rows.ts'

/** Batches that are under way at the same time; each waits for its transaction most of the time. */
const CONCURRENT_BATCHES = 8

export async function sendList(session: Session, flags: SendFlags, list: ListToSend): Promise<CommandOutcome> {
  if (flags.squads !== undefined) {
    const { proposeSends } = await import('./propose.ts')
    return proposeSends(session, flags, list, flags.squads)
  }
  const { mint } = list.token
  const payer = flags.signed ? await platformAddress(session) : await signingWallet(session, flags)
  const cluster = await session.cluster()
  if (!flags.dry_run) await refuseUnconfirmable(session, cluster)
  const journal = new SendJournal(list.journal, { mint, payer, cluster })
  journal.refuseWhileHeld()
  const known = stateFile(SENDS_FOLDER, [cluster, mint, listHash(list.list)])
  if (!flags.again) refuseOtherJournal(known, list)

  const terms: SendTermsOfList = {
    payer,
    mint,
    allow_programs: flags.allow_programs,
    accept_transfer_fee: flags.accept_transfer_fee,
    ...(list.airdrop_id === undefined ? {} : { airdrop_id: list.airdrop_id }),
  }
  const { keypair, signed, sign_unseen: replacesUnseen, trust_journal: isTrusted } = flags
  const signer = { keypair, signed, caller: await session.caller() }
  const run = { terms, txVersion: txVersionField(flags), ...signer, journal, isTrusted, replacesUnseen }
  const compared = new Map<string, string | null>()
  const readRows = async () => {
    const paid = await paidWallets(session, { ...run, forecast: list.token }, journal, compared)
    return rowsOf(list.list, { paid, journal }, list.name)
  }
  const rows = await readRows()
  // Rows that an earlier run has sent may already be confirmed, so they are not counted as open.
  const begun = new Set(journal.open().flatMap(({ recipients }) => recipients.map(([wallet]) => wallet)))
  const fresh = rows.filter(({ wallet }) => !begun.has(wallet))
  const forecast = await planRows(session, terms, fresh)
  const isOpen = fresh.some(({ status }) => status === 'to send')
  const question = `Send ${list.token.symbol ?? mint} to ${countOf(fresh) + begun.size} wallets`
  return runList(session, flags, {
    question,
    isOpen: isOpen || begun.size > 0,
    begin: () => journal.begin(),
    async preview() {
      if (forecast !== null && isOpen)
        await previewSending(session, {
          question,
          token: list.token,
          run,
          rows: fresh,
          forecast,
          pending: begun.size,
          flags,
        })
    },
    async work() {
      writeStateFile(known, { journal: resolve(journal.file) })
      // Another run may have sent during the confirmation.
      for (const [i, now] of (await readRows()).entries()) {
        if (now.status === 'sent already' || now.status === 'unknown') Object.assign(rows[i] ?? {}, now)
      }
      await sendOpen(session, { ...run, forecast: forecast ?? (await readToken(session, terms, rows)) }, rows)
    },
    async outcome(notes) {
      const { out, dry_run } = flags
      const { decimals } = list.token
      const units = { decimals, isRaw: list.isRaw }
      if (out !== undefined) await writeSentRows(out, rowsAsKnown(rows, journal.open()), units)
      // Whoever overwrites a file with the same amounts each month must see that nobody was paid for it.
      const isRepeated = rows.length > 0 && rows.every(({ status }) => status === 'sent already')
      const repeated = `Every wallet was paid earlier, and nobody now. A new list with the same amounts needs a journal of its own: --journal FILE --again`
      const said = isRepeated ? [...notes, repeated] : notes
      const outcome = sendOutcome(rows, { mint, journal: journal.file, decimals, out }, said)
      return dry_run && notes.length > 0 ? { ...outcome, exitCode: EXIT.done } : outcome
    },
  })
}

interface Preview {
  question: string
  token: ListToken
  run: Omit<SendRun, 'forecast' | 'terms'> & { terms: SendTermsOfList }
  rows: readonly SendRow[]
  forecast: SendForecast
  pending: number
  flags: SendFlags
}

/** Shows what it costs, measured by a trial of the first batch. Throws if sender or token do not allow it. */
async function previewSending(session: Session, preview: Preview): Promise<void> {
  const { question, token, run, rows, forecast, pending, flags } = preview
  const fits = flags.tx_version === '1' ? forecast.fits.v1 : forecast.fits.v0
  const [first] = batchesOf(rows, fits)
  const tried = first === undefined ? null : await tryTokens(session, preview, first)
  const open = rows.filter(({ status }) => status === 'to send')
  const count = batchesOf(rows, fits).length
  const openings = open.filter(({ opens }) => opens).length
  const rent = forecast.rentPerAccount * BigInt(openings)
  const fee = tried === null ? null : BigInt((await session.wallet.describe(tried)).fee)
  const paid = solPayment(run.terms.payer, rent + (fee ?? LAMPORTS_PER_SIGNATURE) * BigInt(count), forecast.lamports)
  const funds: Funds = { payments: [paid], isExact: true, fault: null }
  const { decimals, transferFee } = forecast
  const left = rows.filter(({ status }) => status === 'left out' || status === 'unknown').length
  const cluster = await session.cluster()
  await session.ui.preview([
    question,
    previewLine('cluster', cluster ?? 'only the API knows'),
    ...listSignerLines(run.terms.payer, run.signed, 'here: each transaction before it is signed, wallet by wallet'),
    previewLine('mint', run.terms.mint),
    previewLine('wallets', `${rows.length}, of which ${open.length} are to be paid and ${left} are left out`),
    ...(pending === 0
      ? []
      : [previewLine('first', `${pending} wallets of an earlier run, whose transactions may still land`)]),
    previewLine('amounts', amountWords([BigUint64Array.from(open, ({ amount }) => amount)], token)),
    previewLine(
      'tokens',
      `${groupedDecimalOf(totalOf(open), decimals)}, of ${groupedDecimalOf(forecast.held, decimals)} in the wallet`,
    ),
    ...(transferFee === null
      ? []
      : [
          previewLine(
            'kept',
            `${transferFee.basis_points / 100} % of each transfer stays with the token, at most ${groupedDecimalOf(BigInt(transferFee.maximum_fee), decimals)}`,
          ),
        ]),
    previewLine(
      'sending',
      `${count} transactions, each of at most ${fits.ready} wallets, or ${fits.to_open} without a token account`,
    ),
    previewLine('rent', `${solOf(rent)} SOL for ${openings} token accounts that are missing`),
    previewLine(
      'fees',
      fee === null ? 'not known' : `${solOf(fee * BigInt(count))} SOL, ${solOf(fee)} SOL a transaction`,
    ),
    ...totalLines(funds, run.terms.payer),
    previewLine('journal', run.journal.file),
  ])
  if (flags.dry_run) return
  requireTokens(run.terms, totalOf(open), forecast)
  requireFunds(funds, cluster)
}

const totalOf = (rows: readonly SendRow[]) => rows.reduce((sum, { amount }) => sum + amount, 0n)
const countOf = (rows: readonly SendRow[]) => rows.filter(({ status }) => status === 'to send').length

/** The first batch as a transaction, tried without sending; null if the sender cannot pay for a trial. */
async function tryTokens(
  session: Session,
  { run, forecast }: Preview,
  first: readonly SendRow[],
): Promise<string | null> {
  const rent = forecast.rentPerAccount * BigInt(first.filter(({ opens }) => opens).length)
  if (forecast.held < totalOf(first) || forecast.lamports <= rent) return null
  const tried = await tryBatch(session, run, first)
  if (tried === null) return null
  const demand = await batchDemand(signingFor(session, run.terms.payer), { ...run, forecast }, tried.rows)
  const transaction = await checkedBuild(session, tried.data.transaction, demand)
  const trial = await forecastOf(session, transaction, run.terms.payer)
  if (trial.fault !== null) throw wouldFail(trial, trial.fault)
  return transaction
}

/** What is known of the token when only batches of an earlier run are left. */
async function readToken(session: Session, terms: SendTermsOfList, rows: readonly SendRow[]): Promise<SendForecast> {
  const [first] = rows
  const forecast = first && (await planRows(session, terms, [{ ...first, status: 'to send', amount: 1n }]))
  if (!forecast) throw new Error('a list without rows was started')
  return forecast
}

/** Completes what an earlier run started, and sends the rest. */
const sendOpen = (session: Session, run: SendRun & { forecast: SendForecast }, rows: readonly SendRow[]) =>
  workThroughBatches(session, run, rows, {
    doing: 'Sending',
    batches: (open) => batchesOf(open, run.txVersion.tx_version === 1 ? run.forecast.fits.v1 : run.forecast.fits.v0),
  })

/** Completes the batches of an earlier run, and then does those into which `batches` divides the other rows. */
export async function workThroughBatches(
  session: Session,
  run: SendRun,
  rows: readonly SendRow[],
  { doing, batches }: { doing: string; batches: (rows: readonly SendRow[]) => SendRow[][] },
): Promise<void> {
  const byWallet = new Map(rows.map((row) => [row.wallet, row]))
  const begun = run.journal.open().map((batch) => ({
    rows: batch.recipients.flatMap(([wallet]) => byWallet.get(wallet) ?? []),
    batch,
  }))
  const inBegun = new Set(begun.flatMap((each) => each.rows))
  const fresh = batches(rows.filter((row) => !inBegun.has(row)))
  await workThrough<{ rows: readonly SendRow[]; batch: OpenBatch | null }>(session, {
    doing,
    atOnce: run.signed ? CONCURRENT_BATCHES : await atOnce(session, run.keypair, CONCURRENT_BATCHES),
    jobs: [...begun, ...fresh.map((part) => ({ rows: part, batch: null }))],
    async work(quiet, { rows: part, batch }) {
      const later = await sendBatch(quiet, run, part, batch)
      return later.length === 0 ? [] : [{ rows: later, batch: null }]
    },
    failed(job, { message }) {
      for (const row of job.rows) if (row.status === 'to send') Object.assign(row, { status: 'failed', note: message })
    },
    progress: () => [rows.length - countOf(rows), rows.length],
  })
}
