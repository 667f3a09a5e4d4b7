/** Sends one batch of a list; the journal has it before it is sent, and it is signed again only once it has ended. */
import { ApiError } from '../../../src/platform/errors.ts'
import type { Session } from '../../cli/session.ts'
import { checkedBuild, signingFor } from '../../signing/demand.ts'
import { signOne } from '../../signing/device.ts'
import { UnprovenEnd } from '../../signing/following.ts'
import { failure } from '../../ui/problem.ts'
import { type SignedSending, sendOne } from '../attempt.ts'
import { fieldsOf, type JournalFields } from '../journal.ts'
import { requireSameCaller, requireTrusted, UntrustedKey } from '../key-trust.ts'
import { patiently } from '../patience.ts'
import { type DoneInJournal, doubtsAbout, type doubtsOnce } from '../proof.ts'
import type { BatchAnswer, BatchRun, SendRow, SendRun } from './act.ts'
import type { BatchSending, OpenBatch, PaidWallet, RequestedBatch } from './journal.ts'
import { leaveOut, rowToSend } from './rows.ts'

/** What earlier runs have paid, by wallet, after the chain was asked. */
export async function paidWallets(
  session: Session,
  run: SendRun,
  doubtsOf: ReturnType<typeof doubtsOnce>,
): Promise<Map<string, PaidWallet>> {
  // The chain says whether an account is frozen.
  const finished = run.act.hasAmounts ? run.journal.finished() : []
  const batches = finished.map((batch) => ({ ...batch, id: JSON.stringify(batch) }))
  const doubts = await doubtsOf(batches.map((batch) => doneBatch(session, run, batch)))
  const paid = new Map<string, PaidWallet>()
  for (const { id, recipients, sending } of batches) {
    const doubt = doubts.get(id) ?? null
    for (const [wallet, amount] of recipients) {
      // One batch that is proven is enough.
      if (doubt === null || paid.get(wallet)?.doubt !== null)
        paid.set(wallet, { amount, signature: sending.signature ?? '', doubt })
    }
  }
  return paid
}

const doneBatch = (
  session: Session,
  { act, terms }: Pick<BatchRun, 'act' | 'terms'>,
  { id, recipients, sending }: Pick<OpenBatch, 'recipients' | 'sending'> & { id: string },
): DoneInJournal => ({
  id,
  signatures: sending.signature ? [sending.signature] : [],
  demand: () =>
    act.demand(
      signingFor(session, terms.payer, { guard: undefined, isRead: true }),
      recipients.map(([wallet, amount]) => rowToSend(wallet, BigInt(amount))),
    ),
})

/**
 * Sends to the rows, and marks them. `begun` is what an earlier run has sent to them. Returns the rows that did not
 * fit; another batch sends them.
 */
export async function sendBatch(
  session: Session,
  run: SendRun,
  rows: readonly SendRow[],
  begun: OpenBatch | null = null,
): Promise<SendRow[]> {
  const later: SendRow[] = []
  let [now, earlier] = [[...rows], begun]
  while (now.length > 0) {
    try {
      const signature = await sendToAll(session, run, now, earlier)
      const doubt = earlier === null ? null : await doubtAbout(session, run, now, signature)
      for (const row of now) Object.assign(row, { status: doubt === null ? 'sent' : 'unknown', signature, note: doubt })
      break
    } catch (error) {
      if (error instanceof UntrustedKey || error instanceof UnprovenEnd) {
        for (const row of now) Object.assign(row, { status: 'unknown', note: error.message })
        break
      }
      // The request of an earlier run may have been signed, so a new batch may follow only once that one has ended.
      const isOpen = earlier !== null && run.journal.entries.get(earlier.batch)?.end === undefined
      if (!(error instanceof ApiError) || isOpen) throw error
      now = withoutFault(error, now, { later, list: run.act.words.list })
      earlier = null
    }
  }
  return later
}

/** Why what an earlier run began does not count, although the transaction that its journal names is confirmed. */
async function doubtAbout(session: Session, run: SendRun, rows: readonly SendRow[], signature: string) {
  const recipients = rows.map(({ wallet, amount }) => [wallet, String(amount)] as const)
  const done = doneBatch(session, run, { id: signature, recipients, sending: { signature } as SignedSending })
  return (await doubtsAbout(session, [done], run)).get(signature) ?? null
}

/** Sends to all of the rows in one transaction, and returns its signature. Throws the refusal of a row. */
function sendToAll(session: Session, run: SendRun, rows: readonly SendRow[], begun: OpenBatch | null): Promise<string> {
  const { journal, caller } = run
  const anew = `if nothing was ${run.act.paid}, put it into a list of its own with another --journal (and --again if that list is the same)`
  const pairs = rows.map(({ wallet, amount }) => [wallet, String(amount)] as const)
  let batch = begun?.batch ?? null
  return sendOne<RequestedBatch>(session, {
    begun: begun?.sending ?? null,
    sign: () => (run.signed ? Promise.resolve(requestOf(session, run)) : signedBatch(session, run, rows)),
    async ask(request, options) {
      // Each attempt checks it, because waiting for a rate limit may take longer than the API keeps the key.
      requireTrusted(request, { caller, now: session.clock.now(), anew })
      const { data } = await run.act.call(session, request.body, rows, options)
      if (data.mode === 'signed') return data
      throw failure('the API answered without a signature: it did not sign')
    },
    keep(sending: BatchSending, end) {
      if ('key' in sending) requireSameCaller(sending, { caller, end, anew })
      batch ??= journal.next()
      journal.write(batch, { recipients: pairs, sending, end })
      if (end !== undefined) batch = null
    },
    retriesFailed: true,
    replacesUnseen: run.replacesUnseen,
    unfinished: `a batch of ${rows.length} wallets did not land`,
  })
}

const requestOf = (session: Session, { terms, txTerms, caller }: SendRun): RequestedBatch => ({
  key: crypto.randomUUID(),
  at: session.clock.now(),
  signature: null,
  caller,
  body: { ...terms, ...txTerms, mode: 'signed' },
})

async function signedBatch(session: Session, run: SendRun, rows: readonly SendRow[]): Promise<SignedSending> {
  const { act, terms, txTerms, keypair } = run
  const { data: built } = await patiently(session, () => act.call(session, { ...terms, ...txTerms }, rows))
  if (built.mode !== 'unsigned') throw unasked(built)
  const demand = await act.demand(signingFor(session, terms.payer, { guard: run.txTerms.guard }), rows)
  const checked = await checkedBuild(session, built.transaction, demand)
  return signOne(session, checked, { built, secretKeys: undefined, demand, keypair })
}

/** Builds without signing, for a preview; faults mark their rows, and those that do not fit are added to `later`. Null if no row is left. */
export async function tryBatch(
  session: Session,
  run: BatchRun,
  rows: readonly SendRow[],
  later: SendRow[] = [],
): Promise<{ data: BatchAnswer & { mode: 'unsigned' }; rows: SendRow[] } | null> {
  let now = [...rows]
  const { act } = run
  while (now.length > 0) {
    const part = now
    try {
      const { data } = await patiently(session, () =>
        act.call(session, { ...run.terms, ...run.txTerms, dry_run: true }, part),
      )
      if (data.mode === 'unsigned') return { data, rows: now }
      throw unasked(data)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      now = withoutFault(error, now, { later, list: act.words.list })
    }
  }
  return null
}

/** The rows without those that a refusal names, or without those that do not fit; throws any other refusal. */
function withoutFault(
  error: ApiError,
  rows: readonly SendRow[],
  { later, list }: { later: SendRow[]; list: string },
): SendRow[] {
  const { code, param = '', details = {}, message } = error
  // How many a multisig can execute at once is found by halves.
  const fits = details.reason === 'execution_too_large' ? Math.floor(rows.length / 2) : Number(details.fits)
  if (code === 'bad_request' && Number.isSafeInteger(fits) && fits > 0 && fits < rows.length) {
    later.push(...rows.slice(fits))
    return rows.slice(0, fits)
  }
  if (code === 'bad_request' && typeof details.rule === 'string') {
    return withinPolicy({ message, rule: details.rule, details, error }, rows, later)
  }
  const [named, field = ''] = param.split('.')
  const index = named === list && /^\d+$/.test(field) ? Number(field) : -1
  const first = { index, reason: details.reason, note: message.replace(`${param}: `, '') }
  const faults = rows[index] === undefined ? [] : [...faultsIn(details.faults), first]
  const known = faults.flatMap(({ index: at, reason, note }) => {
    const row = rows[at]
    return row === undefined || typeof reason !== 'string' ? [] : [{ row, reason, note }]
  })
  if (code !== 'bad_request' || known.length === 0) throw error
  for (const { row, reason, note } of known) leaveOut(row, reason, note)
  const out = new Set(known.map(({ row }) => row))
  return rows.filter((row) => !out.has(row))
}

/** Rules about the sum of a transaction or a day, which fewer wallets may keep. */
const LIMITS = ['tokens_per_transaction', 'lamports_per_transaction', 'tokens_per_day', 'lamports_per_day']

/** The rows without the wallet that the signer's policy refuses, or fewer of them for its limits; throws any other refusal. */
function withinPolicy(
  of: { message: string; rule: string; details: JournalFields; error: ApiError },
  rows: readonly SendRow[],
  later: SendRow[],
): SendRow[] {
  const { message, rule, details, error } = of
  if (rule === 'destination') {
    const refused = rows.find(({ wallet }) => wallet === details.owner || wallet === details.address)
    if (refused === undefined) throw error
    leaveOut(refused, rule, message)
    return rows.filter((row) => row !== refused)
  }
  const [only, ...others] = rows
  if (!LIMITS.includes(rule) || only === undefined) throw error
  if (others.length === 0) {
    leaveOut(only, rule, `${only.wallet}: ${message}`)
    return []
  }
  const half = Math.ceil(rows.length / 2)
  later.push(...rows.slice(half))
  return rows.slice(0, half)
}

/** The faults of all rows, as far as the API says them. */
const faultsIn = (faults: unknown): { index: number; reason: unknown; note: string }[] =>
  Array.isArray(faults)
    ? faults.map(fieldsOf).map(({ index, reason, note }) => ({ index: Number(index), reason, note: String(note) }))
    : []

/** Divides the parts further until each fits into one transaction; faults mark their rows, which are in no batch. */
export async function fittingBatches(
  session: Session,
  run: BatchRun,
  parts: readonly (readonly SendRow[])[],
): Promise<SendRow[][]> {
  const batches: SendRow[][] = []
  for (const part of parts) {
    let rest: readonly SendRow[] = part
    while (rest.length > 0) {
      const later: SendRow[] = []
      const tried = await tryBatch(session, run, rest, later)
      if (tried !== null) batches.push(tried.rows)
      rest = later
    }
  }
  return batches
}

const unasked = ({ mode }: BatchAnswer) =>
  failure(`the API answered in mode ${mode}, which was not requested: nothing more was sent`, {
    next: 'check which API answers: `svc config list`',
  })
