/** `svc pools create --from`: launches every row of a list once, however often the command is interrupted and run again. */
import type { PoolCreated } from '../../src/api/pools.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { doubtsOnce } from '../lists/proof.ts'
import { proposeRows } from '../lists/propose-rows.ts'
import { atOnce, refuseStandardInput, runList, workThrough } from '../lists/run.ts'
import { refuseUnconfirmable } from '../signing/confirm.ts'
import { approverField, txVersionField } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import type { ActingVault } from '../signing/wallet.ts'
import { usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { launchAnswer, launchDemand } from './launch-demand.ts'
import type { CreateFlags } from './launch-flags.ts'
import { launchedCalls, launchRow } from './launch-row.ts'
import { forecastCost, rehearseAll, requireBuildable } from './list-forecast.ts'
import { type LaunchListJournal, launchedOf, launchListJournal } from './list-journal.ts'
import { launchListOutcome, type PlannedRow } from './list-outcome.ts'
import { bodyOfRow, type LaunchList, readLaunchList } from './list-rows.ts'

/** Launches at the same time; each waits for its transactions most of the time. */
const CONCURRENT_LAUNCHES = 4
export async function launchList(session: Session, input: CreateFlags, file: string): Promise<CommandOutcome> {
  refuseStandardInput(file, '--from')
  const list = await readLaunchList(file)
  if (input.squads !== undefined) return proposeLaunches(session, input, list, input.squads)
  const payer = await signingWallet(session, input)
  const cluster = await session.cluster()
  if (!input.dry_run && !input.rehearse) await refuseUnconfirmable(session, cluster)
  const journal = launchListJournal(input.journal ?? `${file}.launch.json`, { payer, cluster })
  journal.refuseWhileHeld()
  const doubtsOf = doubtsOnce(session, { isTrusted: input.trust_journal })
  const readRows = () => comparedRows(payer, plannedRows(list, journal), doubtsOf)
  const planned = await readRows()
  const open = planned.filter(({ status }) => status === 'to launch')
  if (input.rehearse) return rehearseAll(session, input, { list, payer, rows: open })

  return runList(session, input, {
    question: `Launch ${counted(open.length, 'token')}`,
    isOpen: open.length > 0,
    begin: () => journal.begin(),
    async preview() {
      const built = await requireBuildable(session, input, { list, payer, rows: open })
      const { funds, each } = await forecastCost(session, open, built)
      return {
        lines: [
          previewLine('signer', payer),
          previewLine('checked', 'here: each launch before it is signed'),
          previewLine('rows', `${planned.length}, of which ${planned.length - open.length} are launched already`),
          ...(each === null ? [] : [previewLine('each', each)]),
        ],
        funds,
        payer,
        journal: journal.file,
      }
    },
    async work() {
      // Another run may have launched during the confirmation.
      for (const [i, now] of (await readRows()).entries()) Object.assign(planned[i] ?? {}, now)
      const jobs = planned.filter(({ status }) => status === 'to launch')
      let done = 0
      await workThrough(session, {
        doing: 'Launching',
        atOnce: await atOnce(session, input.keypair, CONCURRENT_LAUNCHES),
        jobs,
        async work(quiet, next) {
          const entry = await launchRow(quiet, { payer, journal, flags: input }, next.row)
          Object.assign(next, { entry, status: 'launched' })
          return []
        },
        failed(next, { message }) {
          Object.assign(next, { entry: entryOf(journal, next.row), status: 'failed', error: message })
        },
        progress: () => [++done, jobs.length],
      })
    },
    outcome: (notes) => launchListOutcome(planned, { file, journal: journal.file }, notes),
  })
}

const entryOf = (journal: LaunchListJournal, { symbol }: { symbol: string }) => launchedOf(journal.entries.get(symbol))

/** The rows after launches that the journal calls done were compared with the chain. */
async function comparedRows(
  payer: string,
  rows: readonly PlannedRow[],
  doubtsOf: ReturnType<typeof doubtsOnce>,
): Promise<PlannedRow[]> {
  const idOf = ({ entry }: PlannedRow) => JSON.stringify(entry)
  const done = rows.flatMap((each) => {
    const { row, entry, status } = each
    if (status !== 'launched already' || entry === null) return []
    const demand = async () => ({ calls: launchedCalls(payer, row, entry) })
    return [{ id: idOf(each), signatures: entry.landed ?? entry.signatures, demand }]
  })
  const doubts = await doubtsOf(done)
  return rows.map((each) => {
    const error = each.status === 'launched already' ? (doubts.get(idOf(each)) ?? null) : null
    return error === null ? each : { ...each, status: 'unknown', error }
  })
}

/** The rows with what the journal knows. Throws a usage problem for a row that was started and has changed. */
function plannedRows(list: LaunchList, journal: LaunchListJournal): PlannedRow[] {
  const listed = new Set(list.rows.map(({ symbol }) => symbol))
  const isUnfinished = (symbol: string) => entryOf(journal, { symbol })?.isLive === false
  const gone = [...journal.entries.keys()].find((symbol) => isUnfinished(symbol) && !listed.has(symbol))
  if (gone !== undefined) {
    throw usage(`${gone} was started in an earlier run, is not launched yet, and is no longer in the list`, {
      param: '--from',
      next: 'put the row back as it was; its launch may still land',
    })
  }
  const rows = list.rows.map((row): PlannedRow => {
    const entry = entryOf(journal, row)
    return { row, entry, status: entry?.isLive ? 'launched already' : 'to launch', error: null }
  })
  const faults = rows.flatMap(({ row, entry }) => {
    if (entry === null || entry.sha256 === row.sha256) return []
    const message = `${row.fields.symbol} was started with another row (${entry.pool}): put the row and its image back as they were`
    return [{ row, field: 'symbol', message }]
  })
  if (faults.length > 0) throw list.problem(faults)
  return rows
}

// `svc pools create --from --squads`: proposes the launch of every row of a list, each by a vault.

async function proposeLaunches(
  session: Session,
  input: CreateFlags,
  { file, rows, problem }: LaunchList,
  acting: ActingVault,
): Promise<CommandOutcome> {
  const own = rows.filter(({ fields }) => fields.base_mint !== undefined)
  const message = 'a mint_keypair is for a wallet of your own: a vault makes its mints itself'
  if (own.length > 0) throw problem(own.map((row) => ({ row, field: 'base_mint', message })))
  return proposeRows<PoolCreated>(session, input, acting, {
    file,
    journal: input.journal ?? `${file}.proposals.json`,
    rows: async () => ({
      question: `Launch ${counted(rows.length, 'token')}`,
      rows: rows.map((row) => {
        const { line, fields, sha256 } = row
        const build = async (creator: string, more: { dry_run?: true } = {}) => {
          const body = {
            ...(await bodyOfRow(row)),
            creator,
            ...txVersionField(input),
            ...approverField({ squads: acting }),
          }
          return session.client.pools.create({ ...body, ...more })
        }
        return {
          id: `${fields.symbol} ${sha256}`,
          line,
          name: fields.symbol,
          run: {
            what: `Launch ${fields.name} (${fields.symbol}), row ${sha256}`,
            build: (creator: string) => build(creator),
            demand: (of, data) =>
              launchDemand(session, of, { creator: of.payer, body: fields, bounds: input, answer: launchAnswer(data) }),
          },
          tryBuild: async (creator: string) => (await build(creator, { dry_run: true })).data,
        }
      }),
    }),
  })
}
