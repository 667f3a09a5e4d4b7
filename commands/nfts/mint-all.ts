/** `svc nfts mint --from`: every row of a CSV minted once, however often the command is interrupted and run again. */
import type { NftCreated } from '../../src/api/nfts.ts'
import { ApiError } from '../../src/errors.ts'
import { decimalOf, LAMPORT_DIGITS } from '../amounts.ts'
import type { Outcome, Session } from '../command.ts'
import type { SigningFlags } from '../signing/flags.ts'
import { follow } from '../signing/following.ts'
import { failureLines, pair } from '../signing/preview.ts'
import { confirmOn, didFail, faultOf, refuseUnasked, wouldFail } from '../signing/sign-and-submit.ts'
import { submitSigned } from '../signing/submitting.ts'
import { EXIT, failure, usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'
import { type Planned, planRows } from './journal.ts'
import { readRows } from './rows.ts'

export interface List {
  file: string
  journal: string | undefined
  collection: string
  platform_id: string
}

interface Row extends Planned {
  asset: string
  secretKey: number[]
  status: 'to mint' | 'minted' | 'there already' | 'submitted' | 'failed'
  error: string | null
}

/** Rows under way at once. */
const WIDTH = 8
const BATCH = 100
/** A row that failed on the way is tried again after so many milliseconds: its key makes sure that it is minted once. */
const AGAIN_MS = [1_000, 3_000, 10_000] as const
const QUOTA_MS = 5_000
/** Of Metaplex Core: what it owns at the address of an asset was minted, and stays there when it is burned. */
const CORE_PROGRAM = 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d'
/** A longer list is told by its sums, unless it is asked for as JSON or plain. */
const LISTED_ROWS = 40

export async function mintAll(session: Session, flags: SigningFlags, list: List): Promise<Outcome> {
  if (flags.build_only) throw usage('--build-only prints one transaction; with --from there are many')
  if (list.file === '-') {
    throw usage('--from needs a file: a list from standard input could not be read again', { param: '--from' })
  }
  const parsed = await readRows(list.file)
  const payer = await session.wallet.address(flags.keypair)
  if (!flags.dry_run) refuseUnasked(session, await session.cluster())
  const { name } = await requireAuthority(session, list.collection, payer)
  const journal = list.journal ?? `${list.file}.mint.json`
  const run = { collection: list.collection, payer, cluster: await session.cluster() }
  const plan = async (keep: boolean): Promise<Row[]> => {
    const { rows, gone } = planRows(journal, run, parsed, keep)
    await refuseGone(session, journal, await keyed(session, gone))
    const planned = await keyed(session, rows)
    await markMinted(session, planned)
    return planned
  }
  const foreseen = await plan(false)
  const open = foreseen.filter(({ status }) => status === 'to mint')
  const [first] = open
  if (first === undefined) return outcomeOf(foreseen, list, journal)

  const what = `Mint ${open.length} NFT${open.length === 1 ? '' : 's'} into ${name}`
  const isFine = await previewed(session, what, { list, payer, rows: foreseen, first, journal, isDry: flags.dry_run })
  if (flags.dry_run) {
    const notes = ['Nothing was signed with your keypair, and nothing was sent.']
    const outcome = outcomeOf(foreseen, list, journal, notes)
    return isFine ? outcome : { ...outcome, exitCode: EXIT.failed }
  }
  await confirmOn(session, what, await session.cluster())
  const rows = await plan(true)
  await mintOpen(session, flags, list, payer, rows)
  return outcomeOf(rows, list, journal)
}

/** Each with its address, and nothing known of it yet. */
function keyed<T extends { assetSeed: Uint8Array }>({ wallet }: Session, rows: readonly T[]) {
  return Promise.all(
    rows.map(async (row) => {
      const { address: asset, secretKey } = await wallet.derive(row.assetSeed)
      const [status, error] = ['to mint' as Row['status'], null as string | null]
      return { ...row, asset, secretKey, status, error }
    }),
  )
}

/** A row that was minted and says something else now would be minted again, as another one. */
async function refuseGone(
  session: Session,
  journal: string,
  gone: readonly Pick<Row, 'name' | 'asset' | 'status'>[],
): Promise<void> {
  await markMinted(session, gone)
  const minted = gone.filter(({ status }) => status === 'there already')
  const [one] = minted
  if (one === undefined) return
  const others = minted.length === 1 ? '' : `, and ${minted.length - 1} more`
  throw usage(`"${one.name}" was minted (${one.asset}${others}), and the CSV has no such row any more`, {
    param: '--from',
    next: `put the row back as it was; rows may be added. ${journal} knows them all. To mint a list as a new one, name another --journal`,
  })
}

/** Before anything is written: a list cannot be minted with signatures that are missing. */
async function requireAuthority({ client }: Session, address: string, payer: string) {
  const collection = (await client.collections.get({ address })).data
  const { update_authority, update_delegates, cosigned } = collection
  if (cosigned || update_authority === payer || update_delegates.includes(payer)) return collection
  throw usage(`${update_authority} is the update authority of ${address}: ${payer} may not mint into it`, {
    param: '--collection',
    next: 'give its keypair with -k FILE, or have yours made a delegate of the collection',
  })
}

/** Asks the chain: a run that was killed cannot have told how far it came. */
async function markMinted({ client, ui }: Session, rows: readonly Pick<Row, 'asset' | 'status'>[]): Promise<void> {
  const bar = ui.progress('Reading the chain')
  for (let at = 0; at < rows.length; at += BATCH) {
    const part = rows.slice(at, at + BATCH)
    const { accounts } = (await client.accounts.batchFetch({ addresses: part.map(({ asset }) => asset) })).data
    for (const [i, row] of part.entries()) {
      if (accounts[i]?.owner === CORE_PROGRAM) Object.assign(row, { status: 'there already' })
    }
    bar(at + part.length, rows.length)
  }
  ui.clear()
}

interface Preview {
  list: List
  payer: string
  rows: readonly Row[]
  first: Row
  journal: string
  isDry: boolean
}

/** What one costs, measured by a run of the first, and all of them; false where that run failed. */
async function previewed(
  session: Session,
  what: string,
  { list, payer, rows, first, journal, isDry }: Preview,
): Promise<boolean> {
  const { client, wallet, ui } = session
  const { transaction } = (await client.nfts.create(bodyOf(list, payer, first))).data
  const { data: simulation } = await client.transactions.simulate({ transaction })
  const open = rows.filter(({ status }) => status === 'to mint').length
  const change = simulation.balance_changes.find(({ address, mint }) => address === payer && mint === null)
  const cost = change === undefined ? null : -BigInt(change.change)
  const fault = await faultOf(session, transaction, simulation)
  await ui.preview([
    what,
    pair('cluster', (await session.cluster()) ?? 'only the API knows'),
    pair('signer', payer),
    pair('rows', `${rows.length}, of which ${rows.length - open} are there already`),
    pair(
      'cost',
      cost === null ? 'not known' : `${sol(cost)} SOL for the next, ${sol(cost * BigInt(open))} SOL or so in all`,
    ),
    pair('journal', journal),
    ...(fault === null ? [] : failureLines(simulation, fault)),
  ])
  if (fault === null || isDry) return fault === null
  const content = await wallet.decode(transaction)
  throw wouldFail(fault, { cluster: await session.cluster(), signer: payer, content, simulation })
}

const sol = (lamports: bigint) => decimalOf(lamports, LAMPORT_DIGITS)

const bodyOf = ({ collection, platform_id }: List, payer: string, { name, uri, owner, asset }: Row) => ({
  payer,
  platform_id,
  collection,
  name,
  uri,
  owner,
  asset,
})

/** Some at a time; the first that fails for good lets no other begin. */
async function mintOpen(
  session: Session,
  flags: SigningFlags,
  list: List,
  payer: string,
  rows: readonly Row[],
): Promise<void> {
  const open = rows.filter(({ status }) => status === 'to mint')
  const done = () => rows.filter(({ status }) => status !== 'to mint').length
  const bar = session.ui.progress('Minting')
  const quiet = withUi(session, { ...session.ui, preview: async () => undefined, waiting: () => undefined })
  const waiting = [...open]
  let isStopped = false
  const worker = async () => {
    for (let row = waiting.shift(); row !== undefined && !isStopped; row = waiting.shift()) {
      try {
        row.status = await mintOne(quiet, flags, bodyOf(list, payer, row), row)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        isStopped = true
        Object.assign(row, { status: 'failed', error: error.message })
      }
      bar(done(), rows.length)
    }
  }
  session.lastWords('What was sent may have landed; run the same command again for the rest')
  try {
    await Promise.all(Array.from({ length: Math.min(WIDTH, open.length) }, worker))
  } finally {
    session.lastWords(null)
    session.ui.clear()
  }
}

/** Getters of a session open what they give on first use: a spread would open them all. Each row's last words are the list's. */
const withUi = (session: Session, ui: Ui): Session =>
  Object.create(session, { ui: { value: ui }, lastWords: { value: () => undefined } })

async function mintOne(
  session: Session,
  flags: SigningFlags,
  body: ReturnType<typeof bodyOf>,
  row: Row,
): Promise<Row['status']> {
  for (let tries = 0; ; ) {
    try {
      const { data } = await session.client.nfts.create(body)
      return await sent(session, flags, data, row)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // One that an earlier run had sent may have landed meanwhile.
      if (error.code !== 'rate_limited' && (await isThere(session, row))) return 'there already'
      const pause = error.code === 'rate_limited' ? QUOTA_MS : AGAIN_MS[tries++]
      if (pause === undefined || !isPassing(error)) throw error
      await session.clock.sleep(pause)
    }
  }
}

/** What may come out differently the next time: a fault on the way, or a transaction that did not land in time. */
const isPassing = ({ code }: ApiError) => code === 'internal_error' || code === 'rate_limited' || code === 'conflict'

async function isThere({ client }: Session, { asset }: Row): Promise<boolean> {
  try {
    const { accounts } = (await client.accounts.batchFetch({ addresses: [asset] })).data
    return accounts[0]?.owner === CORE_PROGRAM
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

async function sent(
  session: Session,
  { keypair, wait = 'confirmed' }: SigningFlags,
  data: NftCreated,
  { secretKey }: Row,
): Promise<Row['status']> {
  const { transaction, signature, missing } = await session.wallet.sign(data.transaction, {
    keypair,
    secretKeys: [secretKey],
  })
  if (signature === null || missing.length > 0) throw failure(`not signed by ${missing.join(', ')}`)
  const { tracked_resource } = data
  await submitSigned(session, signature, {
    transaction,
    ...(tracked_resource === undefined ? {} : { tracked_resource }),
  })
  if (wait === 'none') return 'submitted'
  const landed = await follow(session, signature, wait)
  if (landed.lifecycle === 'failed') throw await didFail(session, data.transaction, landed)
  return 'minted'
}

function outcomeOf(rows: readonly Row[], list: List, journal: string, notes: readonly string[] = []): Outcome {
  const count = (status: Row['status']) => rows.filter((row) => row.status === status).length
  const [minted, already, submitted, left] = [
    count('minted'),
    count('there already'),
    count('submitted'),
    count('to mint'),
  ]
  const failed = rows.filter(({ status }) => status === 'failed')
  const parts = [
    `${minted} minted`,
    ...(already === 0 ? [] : [`${already} there already`]),
    ...(submitted === 0 ? [] : [`${submitted} submitted and not waited for`]),
    ...(left === 0 ? [] : [`${left} to mint`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed: run the same command again for what is left`]),
  ]
  return {
    data: {
      collection: list.collection,
      journal,
      total: rows.length,
      minted,
      there_already: already,
      submitted,
      to_mint: left,
      failed: failed.length,
      nfts: rows.map(({ line, name, owner, status, error, ...row }) => ({
        line,
        name,
        owner,
        asset: addressIn(row, status),
        status,
        error,
      })),
    },
    rows: {
      columns: ['line', 'name', 'asset', 'status'],
      rows: rows.map(({ line, name, status, ...row }) => [line, name, addressIn(row, status), status]),
    },
    ...(rows.length > LISTED_ROWS ? { text: `${parts.join(', ')} of ${rows.length}` } : {}),
    notes: [
      ...failed.slice(0, LISTED_ROWS).map(({ line, error }) => `${list.file}:${line}:1: ${error}`),
      `${rows.length > LISTED_ROWS ? '' : `${parts.join(', ')} of ${rows.length}. `}Journal: ${journal}`,
      ...notes,
    ],
    exitCode: failed.length === 0 ? EXIT.done : EXIT.failed,
  }
}

/** Before the journal is kept an address is anybody's guess. */
const addressIn = ({ asset }: Pick<Row, 'asset'>, status: Row['status']) => (status === 'to mint' ? null : asset)
