/**
 * Runs a command over a list: preview, confirm, reserve the journal, work on several rows at a time, report every row.
 */
import { createHash } from 'node:crypto'
import { ApiError } from '../../src/platform/errors.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { type Session, sessionWith } from '../cli/session.ts'
import { agreedSession, confirmOn, refuseUnconfirmable } from '../signing/confirm.ts'
import { canPay, type Funds, requireFunds, totalLines } from '../signing/funds.ts'
import { signerAddress } from '../signing/platform-wallet.ts'
import { failureLines, previewLine } from '../signing/preview.ts'
import { type SimulatedBuild, wouldFail } from '../signing/run-failures.ts'
import type { SigningWalletFlags } from '../signing/signing-wallet.ts'
import { EXIT, failure, usage } from '../ui/problem.ts'

interface ListRun {
  /** What it does, as the start of a question: `Launch 3 tokens`. */
  question: string
  /** Whether a row is left to do. */
  isOpen: boolean
  /** Whether anything is signed, in which case the user is asked first. */
  signs?: boolean
  /** Reserves the journal of the list; without it, each row has a journal of its own. */
  begin?(): Promise<() => void>
  /** What the run would do; null shows nothing. Throws if it would fail. */
  preview(): Promise<ListPreview | null>
  work(): Promise<void>
  outcome(notes: readonly string[]): CommandOutcome | Promise<CommandOutcome>
}

export interface ListPreview {
  /** Who signs, what is done to the rows, and what of it is checked here. */
  lines: readonly string[]
  /** What all of it costs, and who pays. */
  funds?: Funds
  payer: string
  journal?: string
  /** A trial of one transaction, which shows whether the others would succeed. */
  forecast?: SimulatedBuild
  /** Throws what else would make it fail, once the preview is shown. */
  require?(): void
}

/** Who signs the rows, and on which cluster. Refuses a run that nobody could confirm. */
export async function listSigner(
  session: Session,
  flags: SigningWalletFlags & { signed?: boolean; dry_run: boolean },
): Promise<{ payer: string; cluster: string | null }> {
  const payer = await signerAddress(session, flags)
  const cluster = await session.cluster()
  if (!flags.dry_run) await refuseUnconfirmable(session, cluster)
  return { payer, cluster }
}

export async function runList(
  session: Session,
  { dry_run }: { dry_run: boolean },
  list: ListRun,
): Promise<CommandOutcome> {
  if (!list.isOpen) return list.outcome([])
  const preview = await list.preview()
  const wouldSucceed = preview === null || (await show(session, list.question, preview, dry_run))
  if (dry_run) {
    const outcome = await list.outcome(['Nothing was signed, and nothing was sent.'])
    return wouldSucceed ? outcome : { ...outcome, exitCode: EXIT.failed }
  }
  if (list.signs !== false) await confirmOn(session, list.question, await session.cluster())
  const release = await list.begin?.()
  try {
    await list.work()
  } finally {
    release?.()
  }
  return list.outcome([])
}

/** Shows the preview. Returns whether a trial would succeed; throws if it would not and this is no dry run. */
async function show(
  session: Session,
  question: string,
  { lines, funds, payer, journal, forecast, require }: ListPreview,
  isDryRun: boolean,
): Promise<boolean> {
  const cluster = await session.cluster()
  const fault = forecast?.fault ?? null
  await session.ui.preview([
    question,
    previewLine('cluster', cluster ?? 'only the API knows'),
    ...lines,
    ...(funds === undefined ? [] : totalLines(funds, payer)),
    ...(journal === undefined ? [] : [previewLine('journal', journal)]),
    ...(forecast === undefined || fault === null ? [] : failureLines(forecast.simulation, fault)),
  ])
  if (isDryRun) return fault === null && (funds === undefined || canPay(funds))
  require?.()
  if (funds !== undefined) requireFunds(funds, cluster)
  if (forecast !== undefined && fault !== null) throw wouldFail(forecast, fault)
  return true
}

interface RowWork<J> {
  /** The text of the progress bar, such as `Launching`. */
  doing: string
  /** How many jobs run at a time; each mostly waits for its transaction. */
  atOnce: number
  jobs: readonly J[]
  /** Does one job. Returns jobs to do later. */
  work(session: Session, job: J): Promise<readonly J[]>
  /** Marks the rows of a job that failed permanently. */
  failed(job: J, error: ApiError): void
  /** How many rows are done, and how many there are. */
  progress(): [done: number, total: number]
}

/** How many rows are worked on at a time: one if a person confirms each on a device, otherwise `most`. */
export const atOnce = async ({ wallet }: Session, keypair: string | undefined, most: number): Promise<number> =>
  (await wallet.isDevice(keypair)) ? 1 : most

/** Does several jobs at a time. After a permanent failure, no other job is started. */
export async function workThrough<J>(session: Session, { doing, jobs, ...run }: RowWork<J>): Promise<void> {
  const bar = session.ui.progress(doing)
  // The list has one preview, one progress bar and one note for Ctrl-C instead of those of each transaction.
  const quiet = sessionWith(session, {
    ui: { ...session.ui, preview: async () => undefined, waiting: () => undefined },
    setInterruptNote: () => undefined,
  })
  const waiting = [...jobs]
  let isStopped = false
  const worker = async () => {
    for (let job = waiting.shift(); job !== undefined && !isStopped; job = waiting.shift()) {
      try {
        waiting.push(...(await run.work(quiet, job)))
      } catch (error) {
        isStopped = true
        if (!(error instanceof ApiError)) throw error
        run.failed(job, error)
      }
      bar(...run.progress())
    }
  }
  session.setInterruptNote('Sent transactions may still be confirmed; run the same command again for the rest')
  try {
    // The journal stays reserved until the last worker has ended.
    const ended = await Promise.allSettled(Array.from({ length: run.atOnce }, worker))
    const thrown = ended.find((end) => end.status === 'rejected')
    if (thrown !== undefined) throw thrown.reason
  } finally {
    session.setInterruptNote(null)
    session.ui.clear()
  }
}

/** Does one row after another, named in a note. A failure is stored in its row, and the others continue. */
export async function oneByOne<R extends object>(
  session: Session,
  rows: readonly R[],
  { nameOf, work }: { nameOf(row: R): string; work(session: Session, row: R): Promise<Partial<R>> },
): Promise<void> {
  const quiet = agreedSession(session)
  for (const [i, row] of rows.entries()) {
    session.ui.note(`${i + 1} of ${rows.length}  ${nameOf(row)}`)
    session.setInterruptNote(`${i} of ${rows.length} were tried; run it again for the rest`)
    Object.assign(row, await work(quiet, row).catch(failedRow))
  }
  session.setInterruptNote(null)
}

/** What an error of the API leaves in its row; throws any other error. */
export function failedRow(error: unknown): { status: 'failed'; error: string; signature: string | null } {
  if (!(error instanceof ApiError)) throw error
  const { signature } = error.details ?? {}
  return { status: 'failed', error: error.message, signature: typeof signature === 'string' ? signature : null }
}

/** The idempotency key of one row under the key of its list: the API does each of the rows once. */
export const rowKey = (key: string | undefined, row: string): string | undefined =>
  key === undefined
    ? undefined
    : createHash('sha256')
        .update(JSON.stringify([key, row]))
        .digest('hex')

/** Inputs of one transaction: a list takes several, and waits for each. */
export const OF_ONE_TRANSACTION = ['build_only', 'force', 'wait', 'idempotency_key']

/** The next run reads the list again, so it must be a file. */
export function refuseStandardInput(file: string | undefined, param: string): void {
  if (file !== '-') return
  throw usage(`${param} needs a file: a list from standard input could not be read again`, { param })
}

/** The first line of a journal was written by another run, so this one would do other rows than it has shown. */
export const begunMeanwhile = () =>
  failure('another run has begun this list meanwhile', { next: 'run the same command again' })
