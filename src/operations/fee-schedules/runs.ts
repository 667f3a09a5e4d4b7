/** Ends a run of a fee schedule, and adds up its results: exact counts and a bounded number of examples. */
import {
  SCHEDULE_SKIPS,
  type ScheduleRunClaim,
  type ScheduleRunReason,
  type ScheduleRunSkip,
  type ScheduleSkip,
} from '../../api/fee-schedules.ts'
import type { Clock } from '../../context.ts'
import { publishScheduleRun, type ScheduleRunStatus } from '../../platform/telemetry/schedule-runs.ts'
import { type FeeScheduleRunRow, findRunUnderWay, moveFeeScheduleRun } from '../../store/fees/fee-schedule-runs.ts'
import type { Tx } from '../../store/store.ts'
import { onCommit } from '../../store/writing/work.ts'

/** Ends a run of a fee schedule, and publishes its result for the metrics. */
export interface RunEnd {
  status: ScheduleRunStatus
  reason: ScheduleRunReason | null
}

/** Returns false when another process has moved or ended the run since it was read. */
export async function endRun(
  { clock }: { clock: Clock },
  tx: Tx,
  run: Pick<FeeScheduleRunRow, 'id' | 'position'>,
  end: RunEnd,
): Promise<boolean> {
  const changes = { ...end, terms_json: null, next_step_at: null, ended_at: clock.now() }
  if ((await moveFeeScheduleRun(tx, run, changes)) === null) return false
  onCommit(() => publishScheduleRun(end.status))
  return true
}

/** Ends the current run of a schedule, if there is one. The caller has locked the schedule's row. */
export async function stopRunUnderWay(
  services: { clock: Clock },
  tx: Tx,
  scheduleId: string,
  reason: ScheduleRunReason,
): Promise<void> {
  // A worker may change the run between the two statements; the second attempt sees that.
  for (let run = await findRunUnderWay(tx, scheduleId); run !== null; run = await findRunUnderWay(tx, scheduleId)) {
    if (await endRun(services, tx, run, { status: 'stopped', reason })) return
  }
}

/** Most claims, and most skipped claims, that a run lists. */
const MOST_SHOWN = 100
/** Reasons that an operator must check; they are listed before the others. */
const REMARKABLE: ReadonlySet<ScheduleSkip> = new Set(['policy', 'error'])

/** The columns of a run's row with one more claim. They are stored together with its signature. */
export function withClaim(
  { claimed, claims_json }: Pick<FeeScheduleRunRow, 'claimed' | 'claims_json'>,
  claim: ScheduleRunClaim,
): Pick<FeeScheduleRunRow, 'claimed' | 'claims_json'> {
  const claims: ScheduleRunClaim[] = JSON.parse(claims_json)
  const shown = claims.length < MOST_SHOWN ? [...claims, claim] : claims
  return { claimed: claimed + 1, claims_json: JSON.stringify(shown) }
}

/** Adds up the claims that a run has not made. */
export class SkipTally {
  #skipped: ScheduleRunSkip[]
  readonly #skips: Partial<Record<ScheduleSkip, number>>

  constructor({ skipped_json, skips_json }: FeeScheduleRunRow) {
    this.#skipped = JSON.parse(skipped_json)
    this.#skips = JSON.parse(skips_json)
  }

  /** Claims that the policy has refused. */
  get refused(): number {
    return this.#skips.policy ?? 0
  }

  add(skip: ScheduleRunSkip): void {
    this.#skips[skip.reason] = (this.#skips[skip.reason] ?? 0) + 1
    const place = REMARKABLE.has(skip.reason)
      ? this.#skipped.findIndex(({ reason }) => !REMARKABLE.has(reason))
      : this.#skipped.length
    this.#skipped.splice(place < 0 ? this.#skipped.length : place, 0, skip)
    this.#skipped = this.#skipped.slice(0, MOST_SHOWN)
  }

  /** The columns of the run's row. */
  columns(): Pick<FeeScheduleRunRow, 'skipped_json' | 'skips_json'> {
    const skips = Object.fromEntries(
      SCHEDULE_SKIPS.flatMap((reason) => (this.#skips[reason] === undefined ? [] : [[reason, this.#skips[reason]]])),
    )
    return {
      skipped_json: JSON.stringify(this.#skipped),
      skips_json: JSON.stringify(skips),
    }
  }
}
