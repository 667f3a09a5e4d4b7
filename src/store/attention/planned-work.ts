/** What the platform wallet is planned to pay for: full curves, claims of schedules, and sponsored claims. */
import { lastEndedRun } from '../fees/fee-schedule-runs.ts'
import type { Reader } from '../store.ts'

/** Rows of each kind that are counted; an installation has a few dozen. */
const MOST_COUNTED = 1_000

interface PlannedWork {
  /** Curves that are full and not migrated. */
  fullPools: number
  /** Claims that the last run of each active schedule made, and at least one for each. */
  claims: number
  /** Lamports that sponsorships may still cost. */
  sponsored: bigint
}

export async function plannedWork(reader: Reader): Promise<PlannedWork> {
  const full = await reader
    .selectFrom('pools')
    .select('address')
    .where('status', '=', 'migration_triggered')
    .limit(MOST_COUNTED)
    .execute()
  const schedules = await reader
    .selectFrom('fee_schedules as s')
    .leftJoin('fee_schedule_runs as r', (join) =>
      join.onRef('r.schedule_id', '=', 's.id').on('r.seq', '=', lastEndedRun),
    )
    .select(['s.id', 'r.claimed'])
    .where('s.active', '=', 1)
    .limit(MOST_COUNTED)
    .execute()
  const sponsorships = await reader
    .selectFrom('sponsorships as s')
    .innerJoin('merkle_trees as t', (join) => join.onRef('t.id', '=', 's.airdrop_id').onRef('t.root', '=', 's.root'))
    .select(['s.budget', 's.used'])
    .where('s.enabled', '=', 1)
    .limit(MOST_COUNTED)
    .execute()
  return {
    fullPools: full.length,
    claims: schedules.reduce((sum, { claimed }) => sum + Math.max(1, claimed ?? 0), 0),
    sponsored: sponsorships.reduce((sum, { budget, used }) => sum + positive(BigInt(budget) - BigInt(used)), 0n),
  }
}

const positive = (amount: bigint) => (amount > 0n ? amount : 0n)
