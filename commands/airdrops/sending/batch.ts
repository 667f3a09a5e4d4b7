/** Sends one batch of a list once: what is signed is in the journal first, and nobody is signed for again until that has ended. */
import type { TokenTransfer } from '../../../src/api/token-transfers.ts'
import { ApiError } from '../../../src/errors.ts'
import type { ApiCaller, Session } from '../../session.ts'
import { checkedBuild, type Demand, signingFor } from '../../signing/demand.ts'
import { DEMANDS } from '../../signing/demands.ts'
import { patiently } from '../../signing/patience.ts'
import { requestPlatformSignature } from '../../signing/requests.ts'
import { signCompletely } from '../../signing/signatures.ts'
import { endOfSent, type SignedEnd, untilEnded } from '../../signing/until-ended.ts'
import { failure } from '../../ui/problem.ts'
import type { RequestedBatch, SendJournal, SentBatch } from './journal.ts'
import { otherCaller, requireTrusted, UntrustedKey, untrusted } from './key-trust.ts'
import { leaveOut, type SendForecast, type SendRow, type SendTermsOfList } from './rows.ts'

export interface SendRun {
  terms: SendTermsOfList
  journal: SendJournal
  forecast: Pick<SendForecast, 'decimals'>
  keypair: string | undefined
  /** Whether the platform wallet signs. */
  signed: boolean
  /** Who asks it to. */
  caller: ApiCaller
  txVersion: { tx_version?: 1 }
}

/** Times that a batch is signed; it may expire without being executed, but after so many another fault is likely. */
const MAX_BATCH_SIGNINGS = 4

type Outcome = Awaited<ReturnType<typeof outcomeOf>>

/** Sends to the rows, and marks them. Returns those that did not fit, which are sent by another batch. */
export async function sendBatch(session: Session, run: SendRun, rows: readonly SendRow[]): Promise<SendRow[]> {
  const later: SendRow[] = []
  let now = [...rows]
  for (let signings = 0; now.length > 0; ) {
    const outcome: Outcome = await outcomeOf(session, run, now)
    if (outcome.kind === 'refused') {
      ;({ now } = withoutFault(outcome.error, now, later))
      continue
    }
    if (outcome.kind === 'unknown') {
      markUnknown(now, outcome.note)
      break
    }
    if (outcome.end.kind === 'confirmed') {
      markSent(now, outcome.signature)
      break
    }
    if (++signings < MAX_BATCH_SIGNINGS) continue
    if (outcome.end.kind === 'failed') throw outcome.end.error
    throw failure(`a batch of ${now.length} wallets did not land in ${MAX_BATCH_SIGNINGS} tries`, {
      next: 'run the same command again; a higher priority-fee may help',
      details: { last: outcome.signature },
    })
  }
  return later
}

/** Ends a batch of an earlier run. Returns its rows where it was not executed and never will be. */
export async function settleBatch(
  session: Session,
  run: SendRun,
  entry: SentBatch,
  rows: readonly SendRow[],
): Promise<SendRow[]> {
  const { sending } = entry
  const outcome =
    'key' in sending
      ? await endRequested(session, run, entry, sending)
      : {
          kind: 'ended' as const,
          end: await patiently(session, () => untilEnded(session, { ...sending, isNew: false })),
          signature: sending.signature,
        }
  if (outcome.kind === 'unknown') {
    markUnknown(rows, outcome.note)
    return []
  }
  const { end, signature } = outcome
  if (end.kind !== 'confirmed') {
    run.journal.ended(entry, end.kind)
    return [...rows]
  }
  run.journal.ended(entry, 'confirmed')
  markSent(rows, signature)
  return []
}

function markSent(rows: readonly SendRow[], signature: string): void {
  for (const row of rows) Object.assign(row, { status: 'sent', signature, note: null })
}

function markUnknown(rows: readonly SendRow[], note: string): void {
  for (const row of rows) Object.assign(row, { status: 'unknown', note })
}

/** Builds without signing, for a preview; faults mark their rows. Null where nobody is left. */
export async function tryBatch(
  session: Session,
  run: Pick<SendRun, 'terms' | 'txVersion'>,
  rows: readonly SendRow[],
): Promise<{ data: TokenTransfer & { mode: 'unsigned' }; rows: SendRow[] } | null> {
  let now = [...rows]
  while (now.length > 0) {
    const recipients = recipientsOf(now)
    try {
      const { data } = await patiently(session, () =>
        session.client.tokenTransfers.create({ ...run.terms, ...run.txVersion, recipients, dry_run: true }),
      )
      if (data.mode === 'unsigned') return { data, rows: now }
      throw unasked(data)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      ;({ now } = withoutFault(error, now, []))
    }
  }
  return null
}

type RequestOutcome = { kind: 'ended'; end: SignedEnd; signature: string } | { kind: 'unknown'; note: string }
type BatchOutcome = { kind: 'refused'; error: ApiError } | RequestOutcome

function outcomeOf(session: Session, run: SendRun, rows: readonly SendRow[]): Promise<BatchOutcome> {
  return run.signed ? outcomeByPlatform(session, run, rows) : outcomeByKeypair(session, run, rows)
}

async function outcomeByKeypair(session: Session, run: SendRun, rows: readonly SendRow[]): Promise<BatchOutcome> {
  const { terms, journal, txVersion, keypair } = run
  let built: TokenTransfer
  try {
    const body = { ...terms, ...txVersion, recipients: recipientsOf(rows) }
    built = (await patiently(session, () => session.client.tokenTransfers.create(body))).data
  } catch (error) {
    if (error instanceof ApiError && error.code === 'bad_request') return { kind: 'refused', error }
    throw error
  }
  if (built.mode !== 'unsigned') throw unasked(built)
  const checked = await checkedBuild(session, built.transaction, await batchDemand(session, run, rows))
  const signed = await signCompletely(session, checked, { keypair })
  const { last_valid_block_height } = built
  const entry = journal.begun(pairsOf(rows), { ...signed, last_valid_block_height })
  let isNew = true
  const end = await patiently(session, () => {
    const first = isNew
    isNew = false
    return untilEnded(session, { ...signed, last_valid_block_height, isNew: first })
  })
  journal.ended(entry, end.kind)
  return { kind: 'ended', end, signature: signed.signature }
}

/** What the transaction of a batch must be. */
export const batchDemand = (
  session: Session,
  { terms: { mint, payer }, forecast: { decimals } }: Pick<SendRun, 'terms' | 'forecast'>,
  recipients: readonly SendRow[],
): Promise<Demand> => DEMANDS['airdrops send'](signingFor(session, payer), { mint, decimals, recipients })

async function outcomeByPlatform(session: Session, run: SendRun, rows: readonly SendRow[]): Promise<BatchOutcome> {
  const { caller, journal } = run
  const request = { key: crypto.randomUUID(), at: session.clock.now(), signature: null, caller, body: requestBody(run) }
  const entry = journal.begun(pairsOf(rows), request)
  try {
    const outcome = await endRequested(session, run, entry, request)
    if (outcome.kind === 'ended') journal.ended(entry, outcome.end.kind)
    return outcome
  } catch (error) {
    // A refusal says that nothing was signed; that of a paused signer also answers a repeated request that was signed.
    if (!(error instanceof ApiError) || error.code !== 'bad_request' || error.details?.rule === 'paused') throw error
    journal.ended(entry, 'failed')
    return { kind: 'refused', error }
  }
}

const requestBody = ({ terms, txVersion }: SendRun) => ({ ...terms, ...txVersion, mode: 'signed' as const })

/** Asks under the key of the entry, whose signature it answers as long as the key is trusted, and waits for the end. */
async function endRequested(
  session: Session,
  { journal, caller }: SendRun,
  entry: SentBatch,
  request: RequestedBatch,
): Promise<RequestOutcome> {
  const recipients = entry.recipients.map(([wallet, amount]) => ({ wallet, amount }))
  try {
    const { signature: known } = request
    const signature = known ?? (await patiently(session, () => signedUnder(session, request, caller, recipients)))
    if (known === null) journal.named(entry, signature)
    const end = await patiently(session, () => endOfSent(session, { signature }))
    const other = otherCaller(request, caller)
    // Another API may not know the transaction that the first one still sends.
    if (end.kind !== 'confirmed' && other !== null) throw untrusted(request, other)
    return { kind: 'ended', end, signature }
  } catch (error) {
    if (error instanceof UntrustedKey) return { kind: 'unknown', note: error.message }
    throw error
  }
}

async function signedUnder(
  session: Session,
  request: RequestedBatch,
  caller: ApiCaller,
  recipients: { wallet: string; amount: string }[],
): Promise<string> {
  const { data } = await requestPlatformSignature(session, request.key, (options) => {
    // Each attempt checks it, because the pauses of a used-up rate limit may last longer than the key.
    requireTrusted(request, caller, session.clock.now())
    return session.client.tokenTransfers.create({ ...request.body, recipients }, options)
  })
  if (data.mode === 'signed') return data.signature
  throw failure('the API answered without a signature: it did not sign')
}

/** The rows without the one that a refusal names, or without those that do not fit; throws any other refusal. */
function withoutFault(error: ApiError, rows: readonly SendRow[], later: SendRow[]): { now: SendRow[] } {
  const { param = '', details = {} } = error
  const fits = Number(details.fits)
  if (error.code === 'bad_request' && fits > 0 && fits < rows.length) {
    later.push(...rows.slice(fits))
    return { now: rows.slice(0, fits) }
  }
  const place = /^recipients\.(\d+)(?:\.wallet)?$/.exec(param)?.[1]
  const row = place === undefined ? undefined : rows[Number(place)]
  if (error.code !== 'bad_request' || row === undefined || typeof details.reason !== 'string') throw error
  leaveOut(row, details.reason, error.message.replace(/^recipients\.\d+(?:\.wallet)?: /, ''))
  return { now: rows.filter((each) => each !== row) }
}

const recipientsOf = (rows: readonly SendRow[]) =>
  rows.map(({ wallet, amount }) => ({ wallet, amount: String(amount) }))
const pairsOf = (rows: readonly SendRow[]) =>
  rows.map(({ wallet, amount }): [string, string] => [wallet, String(amount)])

const unasked = ({ mode }: TokenTransfer) =>
  failure(`the API answered in mode ${mode}, which was not asked for: nothing more was sent`, {
    next: 'check which API answers: `svc config list`',
  })
