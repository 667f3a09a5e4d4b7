/** Launches one row of a list once, however often its run is interrupted: signed transactions are stored in the journal first. */
import type { PoolCreated } from '../../src/api/pools.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { Session } from '../cli/session.ts'
import { type AttemptEnd, type Attempts, endOfSigned, untilConfirmed } from '../lists/attempt.ts'
import { patiently } from '../lists/patience.ts'
import { lifetimeFields, trackedField } from '../signing/built-transactions.ts'
import { type Call, type Demand, requireDemanded, signingFor, UnexpectedBuild } from '../signing/demand.ts'
import { signOneInTime } from '../signing/device.ts'
import { type SigningFlags, type TermsFlags, termsField } from '../signing/flags.ts'
import { withFreshBlockhash } from '../signing/fresh-blockhash.ts'
import { submitSigned } from '../signing/requests.ts'
import { type CompleteTransaction, placeOf, signReturnedKeys, signSeries } from '../signing/signatures.ts'
import { failure } from '../ui/problem.ts'
import { secretKeysOf } from './launch-body.ts'
import { type LaunchAnswer, type LaunchBounds, launchAnswer, launchDemand } from './launch-demand.ts'
import { type LaunchRequest, requestLaunch } from './launch-request.ts'
import { type LaunchedEntry, type LaunchListJournal, launchedOf, requestedOf } from './list-journal.ts'
import { bodyOfRow, type LaunchRow, readMintKeys } from './list-rows.ts'
import { untilLive } from './verify.ts'

/** The built transactions of an entry, as its journal keeps them. */
type KeptLaunch = NonNullable<LaunchedEntry['built']>

interface RowRun {
  payer: string
  journal: LaunchListJournal
  flags: SigningFlags & LaunchBounds
}

/** Returns the entry of a live pool. Throws the failure of its transaction; the next run makes it again. */
export async function launchRow(session: Session, run: RowRun, row: LaunchRow): Promise<LaunchedEntry> {
  const { journal, flags } = run
  const known = launchedOf(journal.entries.get(row.symbol))
  const entry = known ?? (await buildRow(session, run, row))
  const keep = (changed: LaunchedEntry) => journal.write(row.symbol, changed)
  if (known === null) keep(entry)
  return finishLaunch(session, entry, {
    isFresh: known === null,
    keypair: flags.keypair,
    ownKeys: await readMintKeys(row),
    // The transactions before these may be confirmed already.
    demand: () => rowDemand(session, run, row, entry, { isBegun: true }),
    keep,
  })
}

interface LaunchFinish {
  /** Whether this run has built it, so that its blockhash is fresh. */
  isFresh: boolean
  keypair: string | undefined
  /** Keys of the user's that sign besides the keypair. */
  ownKeys: readonly (readonly number[])[]
  /** What its transactions must be; those that are confirmed may be missing. */
  demand(): Promise<Demand>
  /** The entry is on disk when this returns. */
  keep(entry: LaunchedEntry): void
  /** Whether new transactions are sent as a bundle. */
  bundle?: boolean
}

/** Signs and sends what is not confirmed yet, and returns the entry of the live pool. */
export async function finishLaunch(session: Session, known: LaunchedEntry, run: LaunchFinish): Promise<LaunchedEntry> {
  let { isFresh } = run
  let entry = known
  const keep = (changed: LaunchedEntry) => {
    entry = changed
    run.keep(entry)
  }
  if (entry.isLive) return entry
  // A person at a device confirms one transaction at a time, and each is sent before the next one is asked for.
  const isOneByOne = run.bundle !== true && (await session.wallet.isDevice(run.keypair))
  const signAll = async (kept: KeptLaunch) => {
    const built = isFresh ? kept : await patiently(session, () => withFreshBlockhash(session, kept))
    isFresh = false
    const checked = await requireDemanded(session, built.transactions, await run.demand(), { isPart: true })
    return { built, signed: await signSeries(session, checked, { keypair: run.keypair, secretKeys: run.ownKeys }) }
  }
  const signFirst = async (kept: KeptLaunch) => {
    const landed = entry.landed?.length ?? 0
    const { last_valid_block_height, ...first } = await signOneInTime(session, {
      built: { ...kept, transactions: kept.transactions.slice(0, 1) },
      secretKeys: run.ownKeys,
      demand: await run.demand(),
      keypair: run.keypair,
      place: placeOf(landed, landed + kept.transactions.length),
    })
    return { built: { ...kept, last_valid_block_height }, signed: [first] }
  }
  const attempts = (): Attempts<CompleteTransaction[]> => ({
    begun: entry.signed,
    unfinished: `the pool ${entry.pool} did not land`,
    async sign() {
      const { built: kept } = entry
      if (kept === null) throw failure(`the journal has no transactions for the pool ${entry.pool}`)
      const { built, signed } = isOneByOne ? await signFirst(kept) : await signAll(kept)
      const signatures = [...entry.signatures, ...signed.map(({ signature }) => signature)]
      keep({ ...entry, built, signed, signatures })
      return signed
    },
    async end(signed, isNew) {
      const refusal = isNew && run.bundle ? await refusalOfBundle(session, signed, entry) : null
      const { landed, ...end } = await (refusal ?? endOfSeries(session, signed, entry, isNew))
      const confirmed = signed.slice(0, landed).map(({ signature }) => signature)
      const seen = { ...entry, landed: [...new Set([...(entry.landed ?? []), ...confirmed])] }
      // A failed or expired transaction can no longer be confirmed, so it is signed again, and so is what is left.
      const isWhole = end.kind === 'confirmed' && landed >= (entry.built?.transactions.length ?? 0)
      keep(isWhole ? seen : unsigned(seen, landed))
      return end
    },
  })
  do await untilConfirmed(attempts())
  while (entry.signed === null)
  await patiently(session, () => untilLive(session, entry.pool, entry.signatures))
  keep({ ...entry, isLive: true, built: null, signed: null })
  return entry
}

type SeriesEnd = AttemptEnd & { landed: number }

/** Submits all of it as a bundle. Returns the end of one that is refused; otherwise null, and each is followed by itself. */
async function refusalOfBundle(
  session: Session,
  signed: readonly CompleteTransaction[],
  { built }: LaunchedEntry,
): Promise<SeriesEnd | null> {
  const [{ signature } = { signature: '' }] = signed
  const signed_transactions = signed.map(({ transaction }) => transaction)
  try {
    await patiently(session, () =>
      submitSigned(session, signature, { bundle: true, signed_transactions, ...trackedField(built ?? {}) }),
    )
    return null
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'bad_request') throw error
    return { kind: 'failed', error, signature, landed: 0 }
  }
}

async function buildRow(session: Session, run: RowRun, row: LaunchRow): Promise<LaunchedEntry> {
  const { payer, flags, journal } = run
  const { symbol, sha256 } = row
  const body = { ...(await bodyOfRow(row)), creator: payer, ...termsField(flags) }
  const keep = (requested: LaunchRequest | null) => journal.write(symbol, { sha256, requested })
  const data = await patiently(session, () =>
    requestLaunch(session, body, requestedOf(journal.entries.get(symbol)), keep),
  )
  const demand = await rowDemand(session, run, row, launchAnswer(data))
  await requireDemanded(session, data.transactions, demand).catch((error: unknown) => {
    if (error instanceof UnexpectedBuild) keep(null)
    throw error
  })
  return newEntry(session, sha256, data)
}

/** The entry of a launch that is built. Only its generated keys sign it here, so that its blockhash can be replaced. */
export async function newEntry(session: Session, sha256: string, data: PoolCreated): Promise<LaunchedEntry> {
  const partial = await signReturnedKeys(session, data, secretKeysOf(data))
  const transactions = partial.map(({ transaction }) => transaction)
  return {
    sha256,
    ...launchAnswer(data),
    isLive: false,
    built: { transactions, ...lifetimeFields(data), ...trackedField(data) },
    signed: null,
    signatures: [],
    landed: [],
  }
}

/** What the transactions of a row must be. */
export function rowDemand(
  session: Session,
  { payer, flags }: { payer: string; flags: LaunchBounds & Pick<TermsFlags, 'guard'> & { dry_run: boolean } },
  row: LaunchRow,
  { pool, mint, quoteMint, platformPercentage }: LaunchAnswer,
  { isBegun = false } = {},
): Promise<Demand> {
  const answer = { pool, mint, quoteMint, platformPercentage }
  // Nobody reads a note for each row of a list.
  const of = signingFor(session, payer, { guard: flags.guard, isRead: flags.dry_run })
  return launchDemand(session, of, { creator: payer, body: row.fields, bounds: flags, answer, isBegun })
}

/** What the transactions of a launched row must have done, whatever the preset was then. */
export function launchedCalls(creator: string, { fields }: LaunchRow, { pool, mint }: LaunchedEntry): Call[] {
  const { name, symbol, type = 'dbc' } = fields
  if (type === 'damm_v2') {
    const of = { pool, creator, token_a_mint: mint }
    return [{ program: PROGRAMS.dammV2.id, call: 'initialize_customizable_pool', fields: of }]
  }
  return ['spl_token', 'token2022'].map((kind) => ({
    program: PROGRAMS.dbc.id,
    call: `initialize_virtual_pool_with_${kind}`,
    fields: { pool, creator, base_mint: mint, name, symbol },
    group: 'pool',
  }))
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
): Promise<SeriesEnd> {
  let last: SeriesEnd | undefined
  for (const [i, one] of signed.entries()) {
    const isLast = i === (built?.transactions.length ?? signed.length) - 1
    const tracked = isLast ? trackedField(built ?? {}) : {}
    const { last_valid_block_height } = built ?? {}
    const end = await endOfSigned(session, { ...one, ...tracked, last_valid_block_height }, isNew, {
      // The pool has one address, so no second transaction can make it again.
      replacesUnseen: true,
    })
    last = { ...end, signature: one.signature, landed: end.kind === 'confirmed' ? i + 1 : i }
    if (end.kind !== 'confirmed') break
  }
  if (last === undefined) throw failure('the journal has a launch without transactions')
  return last
}

/** The transactions that were never sent, or have failed; those under way need no money any more. */
export async function findUnsent(
  { client }: Session,
  { built, signed, isLive }: LaunchedEntry,
): Promise<readonly string[]> {
  if (isLive || built === null) return []
  let sent = 0
  for (const { signature } of signed ?? []) {
    const { lifecycle } = (await client.transactions.get({ signature })).data
    if (lifecycle === 'unknown' || lifecycle === 'failed') break
    sent++
  }
  return built.transactions.slice(sent)
}
