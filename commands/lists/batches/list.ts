/**
 * Sends, mints or burns for every wallet of a list once, however often the command is run again; freezes or thaws every
 * wallet that is not. The keypair signs, the platform wallet, or a vault to which each batch is proposed.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type EntryList, listHash } from '../../../src/merkle/entry-list.ts'
import { groupedDecimalOf } from '../../cli/amounts.ts'
import type { CommandOutcome } from '../../cli/command.ts'
import type { Session } from '../../cli/session.ts'
import { readStateFile, stateFile, writeStateFile } from '../../cli/state-file.ts'
import { amountWords, type ListToken } from '../../merkle/list-units.ts'
import { checkedBuild, signingFor } from '../../signing/demand.ts'
import { programsField, type TermsFlags, termsField } from '../../signing/flags.ts'
import { readLamports, solPayment } from '../../signing/funds.ts'
import { listGuardLines, listSignerLines, previewLine } from '../../signing/preview.ts'
import { type SimulatedBuild, simulateBuild, wouldFail } from '../../signing/run-failures.ts'
import type { ActingVault } from '../../signing/wallet.ts'
import { usage } from '../../ui/problem.ts'
import { counted } from '../../ui/words.ts'
import { doubtsOnce } from '../proof.ts'
import { atOnce, type ListPreview, listSigner, runList, workThrough } from '../run.ts'
import { type ListedAct, type SendRow, type SendRun, walletAct } from './act.ts'
import { paidWallets, sendBatch } from './batch.ts'
import { type BatchTerms, type OpenBatch, SendJournal } from './journal.ts'
import { batchesOutcome, rowsAsKnown, writeSentRows } from './outcome.ts'
import { type Plan, planOf, totalOf } from './plan.ts'
import { rowsOf } from './rows.ts'

export interface WalletList {
  act: ListedAct
  /** The file, or the airdrop, as messages name it. */
  name: string
  token: ListToken
  list: EntryList
  /** Whether the file has raw units, as its receipt then does. */
  isRaw?: boolean
  journal: string
  /** The journal of its proposals, if a vault does it. */
  proposals: string
  airdrop_id?: string
}

export interface WalletListFlags extends TermsFlags {
  keypair?: string | undefined
  squads?: ActingVault | undefined
  dry_run: boolean
  signed: boolean
  again: boolean
  sign_unseen?: boolean
  trust_journal: boolean
  allow_programs: boolean
  accept_transfer_fee?: boolean
  out?: string | undefined
}

/** Batches that are under way at the same time; each waits for its transaction most of the time. */
const CONCURRENT_BATCHES = 8

export async function doToWallets(session: Session, flags: WalletListFlags, list: WalletList): Promise<CommandOutcome> {
  if (flags.squads !== undefined) {
    const { proposeToWallets } = await import('./propose.ts')
    return proposeToWallets(session, flags, list, flags.squads)
  }
  const { out, keypair, signed } = flags
  const act = walletAct(list.act, list.token)
  const { payer, cluster } = await listSigner(session, flags)
  const journal = new SendJournal(list.journal, { mint: act.token.mint, payer, cluster }, act.journal)
  journal.refuseWhileHeld()
  const known = knownList(cluster, flags, list, list.journal)
  const run: SendRun = {
    act,
    terms: termsOf(flags, list, payer),
    txTerms: termsField(flags),
    journal,
    keypair,
    signed,
    caller: await session.caller(),
    // A wallet that is frozen twice is frozen.
    replacesUnseen: flags.sign_unseen || !act.hasAmounts,
    isTrusted: flags.trust_journal,
  }
  const doubtsOf = doubtsOnce(session, run)
  const readRows = async () => rowsOf(act, list, { paid: await paidWallets(session, run, doubtsOf), journal })
  const rows = await readRows()
  // Rows that an earlier run has begun may be done already, so they are not counted as open.
  const begun = new Set(journal.open().flatMap(({ recipients }) => recipients.map(([wallet]) => wallet)))
  const plan = await planOf(
    session,
    run,
    rows.filter(({ wallet }) => !begun.has(wallet)),
  )
  const isOpen = plan.batches.length > 0
  return runList(session, flags, {
    question: questionOf(list, plan, begun.size),
    isOpen: isOpen || begun.size > 0,
    begin: () => journal.begin(),
    preview: async () => (isOpen ? previewOf(session, run, plan, { rows, pending: begun.size, list }) : null),
    async work() {
      known.begin()
      // Another run may have done some during the confirmation.
      for (const [i, now] of (await readRows()).entries()) {
        if (now.status === 'sent already' || now.status === 'unknown') Object.assign(rows[i] ?? {}, now)
      }
      await doBatches(session, run, rows, plan)
    },
    async outcome(notes) {
      const units = { decimals: list.token.decimals, isRaw: list.isRaw }
      if (out !== undefined) await writeSentRows(out, rowsAsKnown(rows, journal.open()), units)
      return batchesOutcome(act, rows, { journal: journal.file, out, notes })
    },
  })
}

/** What every request of the list has beside its wallets. */
export const termsOf = (flags: WalletListFlags, { act, token, airdrop_id }: WalletList, payer: string): BatchTerms => {
  const { allow_programs, accept_transfer_fee = false } = flags
  if (act !== 'send') return { payer, mint: token.mint, ...programsField(flags) }
  const terms = { payer, mint: token.mint, allow_programs, accept_transfer_fee }
  return airdrop_id === undefined ? terms : { ...terms, airdrop_id }
}

/**
 * Where it is noted with which journal a list was begun. Throws a usage problem for another one, because that would pay
 * everybody a second time, whoever the sender is.
 */
export function knownList(
  cluster: string | null,
  { again }: Pick<WalletListFlags, 'again'>,
  { act, name, token, list }: WalletList,
  journal: string,
): { begin(): void } {
  const { folder, done } = walletAct(act, token).words
  if (folder === null) return { begin: () => undefined }
  const known = stateFile(folder, [cluster, token.mint, listHash(list)])
  const { journal: earlier } = Object(readStateFile(known)) as { journal?: unknown }
  const isSame = earlier === resolve(journal) && existsSync(journal)
  if (!again && typeof earlier === 'string' && !isSame) {
    const lost = existsSync(earlier) ? '' : ', which is gone'
    const anew =
      act === 'send' ? 'pays every wallet of the list once more' : 'does it for every wallet of the list once more'
    throw usage(`the list of ${name} was ${done} before, by the journal ${earlier}${lost}`, {
      param: '--journal',
      next: `${lost === '' ? `continue with --journal ${earlier}` : 'restore it'}; --again ${anew}`,
    })
  }
  return { begin: () => writeStateFile(known, { journal: resolve(journal) }) }
}

function questionOf({ act, token }: WalletList, { batches }: Plan, begun: number): string {
  const { title, to } = walletAct(act, token).words
  const due = batches.flat()
  const total = totalOf(due)
  const what = total === 0n ? '' : `${groupedDecimalOf(total, token.decimals)} of `
  return `${title} ${what}${token.symbol ?? token.mint} ${to} ${counted(due.length + begun, 'wallet')}`
}

/** What the list does and costs. Throws if it would fail. */
async function previewOf(
  session: Session,
  { act, terms: { payer, mint }, signed, txTerms, journal }: SendRun,
  { batches, first, cost, lines, requireTokens }: Plan,
  { rows, pending, list: { token } }: { rows: readonly SendRow[]; pending: number; list: WalletList },
): Promise<ListPreview> {
  let forecast: SimulatedBuild | null = null
  if (first !== null) {
    const demand = await act.demand(
      signingFor(session, payer, { guard: signed ? undefined : txTerms.guard }),
      first.rows,
    )
    const checked = await checkedBuild(session, first.transaction, demand)
    forecast = await simulateBuild(session, checked, payer, first.guard)
    if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  }
  const due = batches.flat()
  const left = rows.filter(({ status }) => status === 'left out' || status === 'unknown').length
  const earlier = `${pending} wallets of an earlier run, whose transactions may still land`
  const amounts = BigUint64Array.from(due, ({ amount }) => amount)
  return {
    lines: [
      ...listSignerLines(payer, signed, 'here: each transaction before it is signed, wallet by wallet'),
      previewLine('mint', mint),
      previewLine('wallets', `${rows.length}, of which ${due.length} are to be ${act.paid} and ${left} are left out`),
      ...(pending === 0 ? [] : [previewLine('first', earlier)]),
      ...(act.hasAmounts ? [previewLine('amounts', amountWords([amounts], token))] : []),
      ...lines,
      ...(forecast === null ? [] : listGuardLines(forecast)),
    ],
    funds: {
      payments: [solPayment(payer, cost, await readLamports(session, payer))],
      isExact: true,
      fault: null,
    },
    payer,
    journal: journal.file,
    require: requireTokens,
  }
}

/** Completes the batches of an earlier run, and then does those of the plan. */
async function doBatches(session: Session, run: SendRun, rows: readonly SendRow[], plan: Plan): Promise<void> {
  const byWallet = new Map(rows.map((row) => [row.wallet, row]))
  const begun = run.journal.open().map((batch) => ({
    rows: batch.recipients.flatMap(([wallet]) => byWallet.get(wallet) ?? []),
    batch,
  }))
  const isBegun = new Set(begun.flatMap((each) => each.rows))
  const isOpen = (row: SendRow) => row.status === 'to send' && !isBegun.has(row)
  const fresh = plan.batches.map((batch) => batch.filter(isOpen)).filter((batch) => batch.length > 0)
  await workThrough<{ rows: readonly SendRow[]; batch: OpenBatch | null }>(session, {
    doing: run.act.words.doing,
    atOnce: run.signed ? CONCURRENT_BATCHES : await atOnce(session, run.keypair, CONCURRENT_BATCHES),
    jobs: [...begun, ...fresh.map((part) => ({ rows: part, batch: null }))],
    async work(quiet, { rows: part, batch }) {
      const later = await sendBatch(quiet, run, part, batch)
      return later.length === 0 ? [] : [{ rows: later, batch: null }]
    },
    failed(job, { message }) {
      for (const row of job.rows) if (row.status === 'to send') Object.assign(row, { status: 'failed', note: message })
    },
    progress: () => [rows.filter(({ status }) => status !== 'to send').length, rows.length],
  })
}
