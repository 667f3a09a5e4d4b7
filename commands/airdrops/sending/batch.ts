/** Sends one batch of a list once: what is signed is in the journal first, and nobody is signed for again until that has ended. */
import type { TokenTransfer } from '../../../src/api/token-transfers.ts'
import { ApiError } from '../../../src/errors.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/solana/program-ids.ts'
import type { Session } from '../../session.ts'
import { patiently } from '../../signing/patience.ts'
import { requestPlatformSignature } from '../../signing/requests.ts'
import { signCompletely } from '../../signing/signatures.ts'
import { endOfSent, type SignedEnd, untilEnded } from '../../signing/until-ended.ts'
import { failure } from '../../ui/problem.ts'
import type { RequestedBatch, SendJournal, SentBatch } from './journal.ts'
import { leaveOut, type SendForecast, type SendRow, type SendTermsOfList } from './rows.ts'

export interface SendRun {
  terms: SendTermsOfList
  journal: SendJournal
  forecast: Pick<SendForecast, 'source' | 'tokenProgram'>
  keypair: string | undefined
  /** Whether the platform wallet signs. */
  signed: boolean
  txVersion: { tx_version?: 1 }
}

/** Times that a batch is signed; it may expire without being executed, but after so many another fault is likely. */
const MAX_BATCH_SIGNINGS = 4
/** Milliseconds for which an idempotency key surely answers with what was signed under it; the API keeps it for a day. */
const KEY_LIFE_MS = 20 * 3_600_000

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
  if ('key' in sending && sending.signature === null && session.clock.now() - sending.at > KEY_LIFE_MS) {
    const note = `the platform wallet was asked under the key ${sending.key} on ${new Date(sending.at).toISOString()}, and whether it has signed is not known: see \`svc audit list\`, and send it in a list of its own if it has not`
    for (const row of rows) Object.assign(row, { status: 'unknown', note })
    return []
  }
  const { end, signature } =
    'key' in sending
      ? await endRequested(session, run, entry, sending)
      : {
          end: await patiently(session, () => untilEnded(session, { ...sending, isNew: false })),
          signature: sending.signature,
        }
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

type BatchOutcome = { kind: 'refused'; error: ApiError } | { kind: 'ended'; end: SignedEnd; signature: string }

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
  await requireAgreed(session, run, rows, built.transaction)
  const signed = await signCompletely(session, built.transaction, { keypair })
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

async function requireAgreed(session: Session, run: SendRun, rows: readonly SendRow[], transaction: string) {
  const { terms, forecast } = run
  const tokenProgram = forecast.tokenProgram === 'spl' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
  const wallets = [terms.payer, ...rows.map(({ wallet }) => wallet)]
  const [source = '', ...accounts] = await session.wallet.tokenAccounts(terms.mint, tokenProgram, wallets)
  // This import is dynamic because the module decodes addresses, and help must not load base58.
  const { requireTransfers } = await import('./expected.ts')
  requireTransfers(await session.wallet.decode(transaction), {
    payer: terms.payer,
    mint: terms.mint,
    tokenProgram,
    source,
    recipients: rows.map(({ wallet, amount }, i) => ({ wallet, amount, tokenAccount: accounts[i] ?? '' })),
  })
}

async function outcomeByPlatform(session: Session, run: SendRun, rows: readonly SendRow[]): Promise<BatchOutcome> {
  const request = { key: crypto.randomUUID(), at: session.clock.now(), signature: null, body: requestBody(run) }
  const entry = run.journal.begun(pairsOf(rows), request)
  try {
    const { end, signature } = await endRequested(session, run, entry, request)
    run.journal.ended(entry, end.kind)
    return { kind: 'ended', end, signature }
  } catch (error) {
    // A refusal says that nothing was signed; that of a paused signer also answers a repeated request that was signed.
    if (!(error instanceof ApiError) || error.code !== 'bad_request' || error.details?.rule === 'paused') throw error
    run.journal.ended(entry, 'failed')
    return { kind: 'refused', error }
  }
}

const requestBody = ({ terms, txVersion }: SendRun) => ({ ...terms, ...txVersion, mode: 'signed' as const })

/** Asks under the key of the entry, whose signature it answers however often it is asked, and waits for the end. */
async function endRequested(
  session: Session,
  { journal }: SendRun,
  entry: SentBatch,
  { key, signature: known, body }: RequestedBatch,
): Promise<{ end: SignedEnd; signature: string }> {
  const recipients = entry.recipients.map(([wallet, amount]) => ({ wallet, amount }))
  const signature = known ?? (await patiently(session, () => signedUnder(session, key, { ...body, recipients })))
  if (known === null) journal.named(entry, signature)
  return { end: await patiently(session, () => endOfSent(session, { signature })), signature }
}

type TransferBody = RequestedBatch['body'] & { recipients: { wallet: string; amount: string }[] }

async function signedUnder(session: Session, key: string, body: TransferBody): Promise<string> {
  const { data } = await requestPlatformSignature(session, key, (options) =>
    session.client.tokenTransfers.create(body, options),
  )
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
