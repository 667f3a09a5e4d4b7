/** Launches one row of a list once, however often its run is interrupted: what is signed is in the journal first. */

import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import type { Session } from '../session.ts'
import { type Demand, requireDemanded, signingFor } from '../signing/demand.ts'
import { type SigningFlags, txVersionField } from '../signing/flags.ts'
import { withFreshBlockhash } from '../signing/fresh-blockhash.ts'
import { type CompleteTransaction, signCompletely, signReturnedKeys } from '../signing/signatures.ts'
import { untilEnded } from '../signing/until-ended.ts'
import { failure } from '../ui/problem.ts'
import { type LaunchBounds, launchAnswer, launchDemand, secretKeysOf } from './launch-body.ts'
import type { LaunchedEntry, LaunchListJournal } from './list-journal.ts'
import { bodyOfRow, type LaunchRow } from './list-rows.ts'
import { untilLive } from './verify.ts'

/** Times that a row is signed; it may expire without being executed, but after so many another fault is likely. */
const MAX_LAUNCH_SIGNINGS = 4

export interface RowRun {
  payer: string
  journal: LaunchListJournal
  flags: SigningFlags & LaunchBounds
}

/** Returns the entry of a pool that is live. Throws the failure of its transaction, which the next run makes anew. */
export async function launchRow(session: Session, run: RowRun, row: LaunchRow): Promise<LaunchedEntry> {
  const { journal } = run
  const { symbol } = row.fields
  const keep = (entry: LaunchedEntry) => {
    journal.write(symbol ?? '', entry)
    return entry
  }
  let entry = journal.entry(symbol ?? '')
  let isFresh = entry === null
  entry ??= keep(await buildRow(session, run, row))
  for (let signings = 0; ; ) {
    if (entry.isLive) return entry
    const isNew = entry.signed === null
    if (entry.built !== null && entry.signed === null) {
      if (signings++ >= MAX_LAUNCH_SIGNINGS) throw neverLanded(entry)
      const built = isFresh ? entry.built : await withFreshBlockhash(session, entry.built)
      const signed: CompleteTransaction[] = []
      // Those before them may have landed.
      const demand = await rowDemand(session, run, row, entry, { isBegun: true })
      for (const transaction of await requireDemanded(session, built.transactions, demand, { isPart: true })) {
        signed.push(await signCompletely(session, transaction, { keypair: run.flags.keypair }))
      }
      const signatures = [...entry.signatures, ...signed.map(({ signature }) => signature)]
      entry = keep({ ...entry, built, signed, signatures })
    }
    isFresh = false
    const sent = entry
    // What failed on chain cannot land any more, so the next run signs it anew.
    const landed: number = await sendSigned(session, { ...sent, isNew }, (before) => keep(unsigned(sent, before)))
    if (landed < (entry.signed?.length ?? 0)) {
      entry = keep(unsigned(entry, landed))
      continue
    }
    await untilLive(session, entry.pool, entry.signatures)
    return keep({ ...entry, isLive: true, built: null, signed: null })
  }
}

async function buildRow(session: Session, run: RowRun, row: LaunchRow): Promise<LaunchedEntry> {
  const { payer, flags } = run
  const body = await bodyOfRow(row)
  const { data } = await session.client.pools.create({ ...body, creator: payer, ...txVersionField(flags) })
  const answer = launchAnswer(data)
  await requireDemanded(session, data.transactions, await rowDemand(session, run, row, answer))
  const partial = await signReturnedKeys(session, data, secretKeysOf(data))
  const { generated_keys, last_valid_block_height, tracked_resource } = data
  return {
    sha256: row.sha256,
    ...answer,
    isLive: false,
    built: {
      transactions: partial.map(({ transaction }) => transaction),
      ...(generated_keys === undefined ? {} : { generated_keys }),
      ...(last_valid_block_height === undefined ? {} : { last_valid_block_height }),
      ...(tracked_resource === undefined ? {} : { tracked_resource }),
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
  {
    pool,
    mint,
    quoteMint = WRAPPED_SOL,
    platformPercentage = 0,
  }: Omit<Partial<LaunchedEntry>, 'pool' | 'mint'> & Pick<LaunchedEntry, 'pool' | 'mint'>,
  { isBegun = false } = {},
): Promise<Demand> {
  const answer = { pool, mint, quoteMint, platformPercentage }
  // Nobody reads about each row of a list.
  const of = signingFor(session, payer, { isRead: flags.dry_run })
  return launchDemand(session, of, { creator: payer, body: row.fields, bounds: flags, answer, isBegun })
}

/** The entry without the transactions that have landed, and without signatures on the others. */
function unsigned(entry: LaunchedEntry, landed: number): LaunchedEntry {
  if (entry.built === null) return entry
  return { ...entry, built: { ...entry.built, transactions: entry.built.transactions.slice(landed) }, signed: null }
}

/**
 * Sends one after another, each once the one before it is confirmed. Returns how many are confirmed: fewer than all
 * where the next one has expired.
 */
async function sendSigned(
  session: Session,
  { signed, built, isNew }: LaunchedEntry & { isNew: boolean },
  onFailed: (landed: number) => void,
): Promise<number> {
  for (const [i, one] of (signed ?? []).entries()) {
    const isLast = i === (signed?.length ?? 0) - 1
    const tracked = isLast && built?.tracked_resource !== undefined ? { tracked_resource: built.tracked_resource } : {}
    const { last_valid_block_height } = built ?? {}
    const end = await untilEnded(session, { ...one, ...tracked, last_valid_block_height, isNew })
    if (end.kind === 'expired') return i
    if (end.kind === 'confirmed') continue
    onFailed(i)
    throw end.error
  }
  return signed?.length ?? 0
}

const neverLanded = ({ pool, signatures }: LaunchedEntry) =>
  failure(`the pool ${pool} did not land in ${MAX_LAUNCH_SIGNINGS} tries`, {
    next: 'run the same command again; a higher priority-fee may help',
    details: { signatures },
  })
