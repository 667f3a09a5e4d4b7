/** Makes the account of each row of a list once, signed by the keypair or by the platform wallet. */
import { ApiError } from '../../src/platform/errors.ts'
import type { Session } from '../cli/session.ts'
import { checkedBuild, signingFor, UnexpectedBuild } from '../signing/demand.ts'
import { signOne } from '../signing/device.ts'
import { buildFields, txVersionField } from '../signing/flags.ts'
import { UnprovenEnd } from '../signing/following.ts'
import { sendAll } from '../signing/sending.ts'
import { sendOne } from './attempt.ts'
import { type CallerRequest, requireSameCaller, requireTrusted, UntrustedKey } from './key-trust.ts'
import type { BuiltRow, KeyedRun } from './keyed-list.ts'
import { type BegunRow, doneRow, isMade, type PlannedRow, type RowStatus } from './keyed-rows.ts'
import { patiently } from './patience.ts'
import { doubtsAbout } from './proof.ts'
import { atOnce, workThrough } from './run.ts'

/** The number of rows that are made at the same time. */
const CONCURRENT_ROWS = 8

/** Makes the open rows, several at a time, each until it is confirmed. */
export async function makeOpen<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  run: KeyedRun<R, D>,
  rows: readonly PlannedRow<R>[],
): Promise<void> {
  const { kind } = run.list
  return workThrough(session, {
    doing: kind.doing,
    atOnce: run.isSigned ? CONCURRENT_ROWS : await atOnce(session, run.flags.keypair, CONCURRENT_ROWS),
    jobs: rows.filter(({ status }) => status === 'to do'),
    async work(quiet, row) {
      try {
        const make = () => makeOnce(quiet, run, row)
        const status = run.isSigned ? await makeByPlatform(quiet, run, row) : await patiently(session, make)
        Object.assign(row, { status })
      } catch (error) {
        if (!(error instanceof UntrustedKey || error instanceof UnprovenEnd)) throw error
        Object.assign(row, { status: 'unknown', error: error.message })
      }
      return []
    },
    failed: (row, { message }) => Object.assign(row, { status: 'failed', error: message }),
    progress: () => [rows.filter(({ status }) => status !== 'to do').length, rows.length],
  })
}

/** The entry of the row is on disk when this returns; what is not given stays as it was. */
export function writeRow<R extends { line: number }, D extends BuiltRow>(
  { clock }: Session,
  { list: { kind }, journal, isSigned }: KeyedRun<R, D>,
  { id, account, ...row }: PlannedRow<R>,
  now: Partial<BegunRow>,
): void {
  const { signature = null, isMade: made = false, request = null } = { ...journal.entries.get(id), ...now }
  const name = (row as Record<string, unknown>)[kind.label]
  const entry = { [kind.label]: name, at: clock.now(), signature, isMade: made }
  journal.write(id, isSigned ? { ...entry, account, request } : entry)
}

/** Why the account of a row is not known to be what the row wants; null if its transaction in the journal proves it. */
async function doubtAbout<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  { list, payer, journal, isSigned, flags }: KeyedRun<R, D>,
  row: PlannedRow<R>,
): Promise<string | null> {
  const of = signingFor(session, payer, { isRead: true })
  const done = doneRow(row, { journal, isSigned, demand: (each, made) => list.demand(of, each, made) })
  return (await doubtsAbout(session, [done], { isTrusted: flags.trust_journal })).get(row.id) ?? null
}

/**
 * The key of its account ensures that a row is made once while the account exists, and the journal that it is later. So
 * its bytes are not stored.
 */
async function makeOnce<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  run: KeyedRun<R, D>,
  row: PlannedRow<R>,
): Promise<RowStatus> {
  const { list, payer, journal, flags } = run
  const { keypair, wait } = flags
  const { address: key, secretKey } = row.key
  try {
    const { data } = await list.build({ payer, ...buildFields({ ...flags, dry_run: false }) }, row, key)
    const demand = await list.demand(signingFor(session, payer), row, { key, account: row.account ?? '' })
    const checked = await checkedBuild(session, data.transaction, demand)
    const signed = await signOne(session, checked, { built: data, secretKeys: [secretKey], demand, keypair })
    writeRow(session, run, row, { signature: signed.signature })
    const confirmed = await sendAll(session, [signed], { built: data, wait, bundle: false, recovery: '' })
    if (confirmed === null) return 'submitted'
    writeRow(session, run, row, { isMade: true })
    return 'done'
  } catch (error) {
    const mayBeMade = error instanceof ApiError && !(error instanceof UnexpectedBuild) && error.code !== 'rate_limited'
    const { signature } = journal.entries.get(row.id) ?? {}
    if (!mayBeMade || !(await isMade(session, list.kind, { ...row, signature }))) throw error
    const doubt = await doubtAbout(session, run, row)
    if (doubt !== null) throw new UntrustedKey(doubt)
    writeRow(session, run, row, { isMade: true })
    return 'there already'
  }
}

/** The platform wallet signs a row once under its idempotency key, which the journal has before it is asked. */
async function makeByPlatform<R extends { line: number }, D extends BuiltRow>(
  session: Session,
  run: KeyedRun<R, D>,
  row: PlannedRow<R>,
): Promise<RowStatus> {
  const { list, payer, journal, flags } = run
  const caller = await session.caller()
  const anew = `if it was not ${list.kind.done}, put the row into a list of its own with another --journal`
  await sendOne<CallerRequest>(session, {
    begun: journal.entries.get(row.id)?.request ?? null,
    sign: async () => ({ key: crypto.randomUUID(), at: session.clock.now(), signature: null, caller }),
    async ask(request, options) {
      // Each attempt checks it, because waiting for a rate limit may take longer than the API keeps the key.
      requireTrusted(request, { caller, now: session.clock.now(), anew })
      if (list.sign === undefined) throw new Error('a list without --signed was started with it')
      const { signature, account } = await list.sign({ payer, ...txVersionField(flags) }, row, options)
      row.account = account
      return { signature }
    },
    keep(sending, end) {
      if (!('key' in sending)) return
      requireSameCaller(sending, { caller, end, anew })
      const isOver = end === 'failed' || end === 'expired'
      const { signature } = sending
      writeRow(session, run, row, { signature, isMade: end === 'confirmed', request: isOver ? null : sending })
    },
    replacesUnseen: flags.sign_unseen,
    unfinished: `line ${row.line} was not ${list.kind.done}`,
  })
  return 'done'
}
