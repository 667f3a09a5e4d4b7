/** Sends one launch so that the next run of the same command continues it: nothing is paid twice, whatever interrupts it. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PoolCreated } from '../../src/api/pools.ts'
import type { Transaction } from '../../src/api/transactions.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { shellQuoted } from '../../src/platform/shell-quoted.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { type Session, sessionWith } from '../cli/session.ts'
import { commandLineOf } from '../cli/shell-words.ts'
import { OTHER_STATE_FOLDER, requireStateFolder, resolveSource, stateFile, stateFolder } from '../cli/state-file.ts'
import { type JournalKind, ListJournal } from '../lists/journal.ts'
import { confirmOn } from '../signing/confirm.ts'
import { type Demand, requireDemanded, signingFor } from '../signing/demand.ts'
import { waitForTransaction } from '../signing/following.ts'
import { canPay, forecastFunds, requireFunds, totalLines } from '../signing/funds.ts'
import { previewLine } from '../signing/preview.ts'
import { sentOutcome } from '../signing/run-outcomes.ts'
import { type SentRun, sendAll } from '../signing/sending.ts'
import { signSeries } from '../signing/signatures.ts'
import type { AgreedBuild } from '../signing/signed-run.ts'
import { EXIT, failure, type Problem, usage } from '../ui/problem.ts'
import type { PoolBody } from './launch-body.ts'
import { launchDemand } from './launch-demand.ts'
import { type CreateFlags, createFlags } from './launch-flags.ts'
import { type CreateBody, type RequestedLaunch, requestLaunch } from './launch-request.ts'
import { findUnsent, finishLaunch, newEntry } from './launch-row.ts'
import { isLaunched, isRequested, type LaunchedEntry, type ListTerms, launchedOf, requestedOf } from './list-journal.ts'

const FOLDER = 'pool-launches'

type SingleEntry = LaunchedEntry & {
  /** The command that continues it. */
  again: string
}

const SINGLE_JOURNAL: JournalKind<ListTerms> = {
  kind: 'svc-pool-launch',
  command: '`svc pools create`',
  doing: 'launching this token',
  names: { payer: 'the keypair', cluster: 'the cluster' },
  anew: '',
  loss: 'if it is removed, a launch in it may be paid a second time',
  place: OTHER_STATE_FOLDER,
  isEntry: (entry) => isRequested(entry) || (isLaunched(entry) && typeof entry.again === 'string'),
}

type SingleJournal = ListJournal<ListTerms, SingleEntry | RequestedLaunch>

export interface SingleLaunch {
  creator: string
  cluster: string | null
  /** The symbol in capitals, which names the entry. */
  symbol: string
  /** SHA-256 of what is launched, in hex. */
  sha256: string
  body: PoolBody
  /** Keys of the user's that sign besides the keypair: that of the mint. They are never written. */
  ownKeys: readonly (readonly number[])[]
  input: CreateFlags
  journal: SingleJournal
  /** What an earlier run of this command has started; null if nothing. */
  begun: SingleEntry | null
  /** Requests the build, or that of an earlier run which was killed before it was stored. */
  request(body: CreateBody): Promise<PoolCreated>
}

/**
 * Reserves the launch of this symbol for this run, and calls `run`. Throws a usage problem if an earlier run has started
 * the symbol with other values, and conflict while another run launches it. A dry run reserves nothing.
 */
export async function withLaunch<T>(
  session: Session,
  input: CreateFlags,
  { creator, body, ownKeys }: Pick<SingleLaunch, 'creator' | 'body' | 'ownKeys'>,
  run: (launch: SingleLaunch) => Promise<T>,
): Promise<T> {
  if (!input.dry_run) requireStateFolder(FOLDER)
  const cluster = await session.cluster()
  const symbol = body.symbol.toUpperCase()
  const terms = { payer: creator, cluster }
  const file = stateFile(FOLDER, [await resolveSource(session), cluster, creator, symbol])
  const journal: SingleJournal = new ListJournal(file, terms, SINGLE_JOURNAL)
  noteOthers(session, journal.file, terms)
  const sha256 = createHash('sha256')
    .update(JSON.stringify([body, input.tx_version ?? null]))
    .digest('hex')
  let isOpen = false
  const request = async (asked: CreateBody) => {
    if (input.dry_run) return (await session.client.pools.create(asked)).data
    isOpen = true
    const begun = requestedOf(journal.entries.get(symbol))
    const data = await requestLaunch(session, asked, begun, (requested) => journal.write(symbol, { sha256, requested }))
    isOpen = false
    return data
  }
  const launch = { creator, cluster, symbol, sha256, body, ownKeys, input, journal, request }
  if (input.dry_run) return run({ ...launch, begun: await findBegun(session, launch) })
  const release = await journal.begin()
  try {
    return await run({ ...launch, begun: await findBegun(session, launch) })
  } finally {
    const entry = journal.entries.get(symbol)
    if (launchedOf(entry) === null && !(isOpen && requestedOf(entry) !== null)) journal.remove()
    release()
  }
}

async function findBegun(
  session: Session,
  { journal, symbol, sha256 }: Pick<SingleLaunch, 'journal' | 'symbol' | 'sha256'>,
): Promise<SingleEntry | null> {
  const entry = launchedOf(journal.entries.get(symbol))
  if (entry === null || entry.sha256 === sha256) return entry
  if (await hasEndedUnpaid(session, entry)) return null
  throw usage(`an earlier run launches ${symbol} with other values (pool ${entry.pool}), and is not finished`, {
    next: waysOut(entry, journal.file),
    details: { pool_address: entry.pool, journal: journal.file, command: entry.again },
  })
}

const waysOut = ({ again }: SingleEntry, file: string) =>
  `finish it with \`${again}\`; or give it up with \`rm ${shellQuoted(file)}\`, and what it has paid is lost`

/** Says which other launches of this wallet are not finished, so that none is forgotten. */
function noteOthers({ ui }: Session, own: string, terms: ListTerms): void {
  for (const name of journalNames()) {
    const file = join(stateFolder(FOLDER), name)
    if (file === own) continue
    try {
      const other: SingleJournal = new ListJournal(file, terms, SINGLE_JOURNAL)
      other.refuseWhileHeld()
      for (const [symbol, known] of other.entries) {
        const entry = launchedOf(known)
        if (entry === null) continue
        ui.warn(`an earlier launch of ${symbol} is not finished (pool ${entry.pool}): ${waysOut(entry, file)}`)
      }
    } catch {
      // It belongs to another wallet or cluster, or runs now.
    }
  }
}

function journalNames(): string[] {
  try {
    return readdirSync(stateFolder(FOLDER)).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
}

/** Whether nothing of it has landed, and nothing that was signed can land any more. */
async function hasEndedUnpaid({ client }: Session, { signed, landed, built }: SingleEntry): Promise<boolean> {
  if (built === null || (landed ?? []).length > 0) return false
  if (signed === null) return true
  const { block_height } = (await client.service.cluster()).data
  const isOver = built.last_valid_block_height !== undefined && block_height > built.last_valid_block_height
  const lifecycles = await Promise.all(
    signed.map(async ({ signature }) => (await client.transactions.get({ signature })).data.lifecycle),
  )
  return lifecycles.every((lifecycle) => lifecycle === 'failed' || (isOver && lifecycle === 'unknown'))
}

/** Signs and sends a new launch, which is in the journal before anything is sent. */
export async function sendLaunch(
  session: Session,
  launch: SingleLaunch,
  { data, unsigned, built, demand, bundle }: AgreedBuild<PoolCreated>,
): Promise<SentRun> {
  const { journal, symbol, sha256, input } = launch
  const checked = await requireDemanded(session, built.transactions, demand)
  const entry = { ...(await newEntry(session, sha256, unsigned)), again: againOf(input) }
  journal.write(symbol, entry)
  if (input.wait !== 'none') {
    return finish(session, launch, entry, { isFresh: true, bundle, demand: async () => demand })
  }
  const signed = await signSeries(session, checked, { keypair: input.keypair })
  const signatures = signed.map(({ signature }) => signature)
  journal.write(symbol, { ...entry, signed, signatures })
  const recovery = 'run the same command again: it continues this launch'
  await sendAll(session, signed, { built: data, wait: 'none', bundle, recovery })
  journal.remove()
  return { signatures, confirmed: null }
}

/** Shows what is left of a launch that an earlier run has started, asks, and finishes it. */
export async function continueLaunch(
  session: Session,
  launch: SingleLaunch & { begun: SingleEntry },
  { what, show }: { what: string; show(pool: string, signatures: readonly string[]): Promise<Record<string, unknown>> },
): Promise<CommandOutcome> {
  const { creator, cluster, journal, input } = launch
  const rest = await findUnsent(session, launch.begun)
  const funds = rest.length === 0 ? null : await forecastFunds(session, rest)
  const lines = [
    what,
    previewLine('continues', `the launch of an earlier run: pool ${launch.begun.pool}`),
    previewLine('cluster', cluster ?? 'only the API knows'),
    previewLine('signer', creator),
    previewLine('sends', rest.length === 0 ? 'nothing new' : `${rest.length} of ${countOf(launch.begun)} transactions`),
    ...(funds === null ? [] : totalLines(funds, creator)),
  ]
  if (input.dry_run) {
    return {
      data: { pool: launch.begun.pool, mint: launch.begun.mint, unsent: rest.length, journal: journal.file },
      text: lines.join('\n'),
      notes: ['Nothing was signed with your keypair, and nothing was sent.'],
      exitCode: funds === null || canPay(funds) ? EXIT.done : EXIT.failed,
    }
  }
  await session.ui.preview(lines)
  if (funds !== null) requireFunds(funds, cluster)
  await confirmOn(session, what, cluster)
  const { signatures, confirmed } = await finish(session, launch, launch.begun, {
    isFresh: false,
    bundle: false,
    demand: () => demandUnsent(session, launch, launch.begun),
  })
  return sentOutcome(await show(launch.begun.pool, signatures), confirmed?.at(-1), { signatures: { signatures } })
}

const countOf = ({ landed = [], built }: SingleEntry) => landed.length + (built?.transactions.length ?? 0)

/** What the transactions that are left must be. */
async function demandUnsent(session: Session, { creator, cluster, body, input }: SingleLaunch, entry: SingleEntry) {
  const { pool, mint, quoteMint, platformPercentage } = entry
  const of = signingFor(session, creator, { guard: input.guard, isRead: session.ui.attended, cluster })
  return launchDemand(session, of, {
    creator,
    body,
    bounds: input,
    answer: { pool, mint, quoteMint, platformPercentage },
    isBegun: true,
  })
}

/** Finishes a launch that is in the journal, and removes the journal once the pool is live. */
async function finish(
  session: Session,
  launch: SingleLaunch,
  entry: SingleEntry,
  how: { isFresh: boolean; bundle: boolean; demand(): Promise<Demand> },
): Promise<SentRun> {
  const { journal, symbol, input, ownKeys } = launch
  const noted = withNote(session, 'Run the same command again: it continues this launch, and nothing is paid twice')
  noted.setInterruptNote(null)
  const keep = (changed: LaunchedEntry) => journal.write(symbol, { ...changed, again: entry.again })
  const live = await finishLaunch(noted, entry, { ...how, keypair: input.keypair, ownKeys, keep })
    .catch((error: unknown) => {
      throw error instanceof ApiError ? unfinished(error, launch) : error
    })
    .finally(() => session.setInterruptNote(null))
  const signatures = live.landed?.length ? live.landed : live.signatures
  journal.remove()
  const wait = input.wait === 'finalized' ? 'finalized' : 'confirmed'
  const confirmed: Transaction[] = []
  for (const signature of signatures) confirmed.push(await waitForTransaction(session, signature, wait))
  return { signatures, confirmed }
}

/** The failure of a launch: what of it has landed, and how it goes on. If nothing has, nothing is left to continue. */
function unfinished(error: ApiError, { journal, symbol }: SingleLaunch): ApiError {
  const entry = launchedOf(journal.entries.get(symbol))
  const { built, signed, landed = [] } = entry ?? {}
  if (entry === null || built === undefined || built === null) return error
  const all = landed.length + built.transactions.length
  const past = landed.length === 0 ? 'none before it' : `landed before it: ${landed.join(', ')}`
  const place = all === 1 || signed !== null ? '' : `transaction ${landed.length + 1} of ${all}: `
  const isOver = signed === null && landed.length === 0
  if (isOver) journal.remove()
  return failure(`${place}${error.message}${place === '' ? '' : ` (${past})`}`, {
    next: isOver
      ? ((error as Problem).next ?? 'nothing of it is paid but fees: launch it again')
      : 'run the same command again: it continues this launch, and nothing is paid twice',
    details: { ...error.details, landed, pool_address: entry.pool },
    cause: error,
  })
}

/** A session whose note for Ctrl-C always ends with `more`. */
const withNote = (session: Session, more: string): Session =>
  sessionWith(session, {
    setInterruptNote: (text) => session.setInterruptNote(text === null ? more : `${text}\n${more}`),
  })

/** The command line that continues a launch. */
function againOf(input: CreateFlags): string {
  const words = Object.keys(createFlags).flatMap((name) => {
    const value = input[name as keyof CreateFlags]
    const flag = `--${name.replaceAll('_', '-')}`
    if (value === undefined || value === false || name === 'wait') return []
    return value === true ? [flag] : [flag, String(value)]
  })
  return commandLineOf(['pools', 'create', ...words])
}
