/** Launches one row of a list once, however often its run is interrupted: signed transactions are stored in the journal first. */
import type { Session } from '../cli/session.ts'
import { type AttemptEnd, endOfSigned, untilConfirmed } from '../lists/attempt.ts'
import { patiently } from '../lists/patience.ts'
import { trackedField } from '../signing/built-transactions.ts'
import { type Demand, requireDemanded, signingFor } from '../signing/demand.ts'
import { type SigningFlags, txVersionField } from '../signing/flags.ts'
import { withFreshBlockhash } from '../signing/fresh-blockhash.ts'
import { type CompleteTransaction, signCompletely, signReturnedKeys } from '../signing/signatures.ts'
import { failure } from '../ui/problem.ts'
import { type LaunchAnswer, type LaunchBounds, launchAnswer, launchDemand, secretKeysOf } from './launch-body.ts'
import type { LaunchedEntry, LaunchListJournal } from './list-journal.ts'
import { bodyOfRow, type LaunchRow } from './list-rows.ts'
import { untilLive } from './verify.ts'

export interface RowRun {
  payer: string
  journal: LaunchListJournal
  flags: SigningFlags & LaunchBounds
}

/** Returns the entry of a live pool. Throws the failure of its transaction; the next run makes it again. */
export async function launchRow(session: Session, run: RowRun, row: LaunchRow): Promise<LaunchedEntry> {
  const { journal, flags } = run
  const known = journal.entries.get(row.symbol)
  let isFresh = known === undefined
  let entry = known ?? (await patiently(session, () => buildRow(session, run, row)))
  const keep = (changed: LaunchedEntry) => {
    entry = changed
    journal.write(row.symbol, entry)
  }
  if (isFresh) keep(entry)
  if (entry.isLive) return entry
  await untilConfirmed<CompleteTransaction[]>({
    begun: entry.signed,
    unfinished: `the pool ${entry.pool} did not land`,
    async sign() {
      const { built: before } = entry
      if (before === null) throw failure(`the journal has no transactions for the pool ${entry.pool}`)
      const built = isFresh ? before : await patiently(session, () => withFreshBlockhash(session, before))
      isFresh = false
      // The transactions before these may be confirmed already.
      const demand = await rowDemand(session, run, row, entry, { isBegun: true })
      const signed: CompleteTransaction[] = []
      for (const transaction of await requireDemanded(session, built.transactions, demand, { isPart: true })) {
        signed.push(await signCompletely(session, transaction, { keypair: flags.keypair }))
      }
      const signatures = [...entry.signatures, ...signed.map(({ signature }) => signature)]
      keep({ ...entry, built, signed, signatures })
      return signed
    },
    async end(signed, isNew) {
      const { landed, ...end } = await endOfSeries(session, signed, entry, isNew)
      // A failed or expired transaction can no longer be confirmed, so it is signed again.
      if (end.kind !== 'confirmed') keep(unsigned(entry, landed))
      return end
    },
  })
  await patiently(session, () => untilLive(session, entry.pool, entry.signatures))
  keep({ ...entry, isLive: true, built: null, signed: null })
  return entry
}

async function buildRow(session: Session, run: RowRun, row: LaunchRow): Promise<LaunchedEntry> {
  const { payer, flags } = run
  const body = await bodyOfRow(row)
  const { data } = await session.client.pools.create({ ...body, creator: payer, ...txVersionField(flags) })
  const answer = launchAnswer(data)
  await requireDemanded(session, data.transactions, await rowDemand(session, run, row, answer))
  const partial = await signReturnedKeys(session, data, secretKeysOf(data))
  const { generated_keys, last_valid_block_height } = data
  return {
    sha256: row.sha256,
    ...answer,
    isLive: false,
    built: {
      transactions: partial.map(({ transaction }) => transaction),
      ...(generated_keys === undefined ? {} : { generated_keys }),
      ...(last_valid_block_height === undefined ? {} : { last_valid_block_height }),
      ...trackedField(data),
    },
    signed: null,
    signatures: [],
  }
}

/** What the transactions of a row must be. */
export function rowDemand(
  session: Session,
  { payer, flags }: { payer: string; flags: LaunchBounds & { dry_run: boolean } },
  row: LaunchRow,
  { pool, mint, quoteMint, platformPercentage }: LaunchAnswer,
  { isBegun = false } = {},
): Promise<Demand> {
  const answer = { pool, mint, quoteMint, platformPercentage }
  // Nobody reads a note for each row of a list.
  const of = signingFor(session, payer, { isRead: flags.dry_run })
  return launchDemand(session, of, { creator: payer, body: row.fields, bounds: flags, answer, isBegun })
}

/** The entry without the transactions that are confirmed, and without signatures on the others. */
function unsigned(entry: LaunchedEntry, landed: number): LaunchedEntry {
  if (entry.built === null) return entry
  return { ...entry, built: { ...entry.built, transactions: entry.built.transactions.slice(landed) }, signed: null }
}

/** Sends one after another, each once the one before it is confirmed; `landed` counts those that are. */
async function endOfSeries(
  session: Session,
  signed: readonly CompleteTransaction[],
  { built }: LaunchedEntry,
  isNew: boolean,
): Promise<AttemptEnd & { landed: number }> {
  let last: (AttemptEnd & { landed: number }) | undefined
  for (const [landed, one] of signed.entries()) {
    const tracked = landed === signed.length - 1 ? trackedField(built ?? {}) : {}
    const { last_valid_block_height } = built ?? {}
    const end = await endOfSigned(session, { ...one, ...tracked, last_valid_block_height }, isNew)
    last = { ...end, signature: one.signature, landed }
    if (end.kind !== 'confirmed') break
  }
  if (last === undefined) throw failure('the journal has a launch without transactions')
  return last
}
