/** Tables of fee claims, and of the schedules that make them. */
import type { Generated } from 'kysely'
import type { Beneficiary, FeeClaimKind } from '../../api/fee-claims.ts'
import type { Recorded } from '../queries/recorded.ts'

interface FeeClaimsTable extends Recorded {
  id: string
  type: 'fee_claim.executed' | 'fee_claim.split_executed'
  pool_address: string
  signature: string | null
  recipients_json: string | null
  /** Raw units of the quote that left the pool's accounts, as digits; null until the transaction is final and read. */
  quote_amount: Generated<string | null>
  /** The same of the base token. */
  base_amount: Generated<string | null>
  /** The same in lamports: the quote if it is SOL, and the lamports that left the pool's own account. */
  lamports: Generated<string | null>
  /** Receivers and amounts, as `[{ wallet, token, amount }]`; token is empty for SOL. */
  received_json: Generated<string | null>
  occurred_at: number
  /** Kind of the claim; null if it is not recorded. */
  kind: FeeClaimKind | null
  /** Beneficiary of the claim; null for a position of neither partner nor creator, and in the case above. */
  beneficiary: Beneficiary | null
  claimer: string | null
}

/** Schedules by which the platform wallet claims fees. */
interface FeeSchedulesTable extends Recorded {
  id: string
  cron: string
  timezone: string
  /** Kinds, beneficiary, threshold, splits and filter, as the API shows them. */
  terms_json: string
  active: number
  /** Time of the next period; null while it is paused. */
  next_run_at: number | null
  /** Time at which `next_run_at` was computed. A time in the future was written by a fast clock. */
  planned_at: number
  /** API keys that made the schedule and that changed it last. */
  created_by: string
  updated_by: string
  updated_at: number
}

/** Runs of fee schedules: one for each period, and those started by a request. */
interface FeeScheduleRunsTable extends Recorded {
  id: string
  schedule_id: string
  /** Time of the period in the cron expression, unique within the schedule; null for a run by a request. */
  scheduled_at: number | null
  status: 'running' | 'done' | 'skipped' | 'stopped'
  reason: string | null
  /** Number of earlier periods without a run, up to a thousand, and the first and the last of them. */
  missed: Generated<number>
  missed_from: Generated<number | null>
  missed_until: Generated<number | null>
  /** Terms of the schedule at the start of the run; null once the run has ended. */
  terms_json: string | null
  /** Place of the last pool that was looked at: its number, or its index among the named ones. */
  position: Generated<number>
  pools: Generated<number>
  claimed: Generated<number>
  /** Up to a hundred claims, and up to a hundred skipped ones, as the API shows them. */
  claims_json: Generated<string>
  skipped_json: Generated<string>
  /** Number of skipped claims by reason. */
  skips_json: Generated<string>
  /** Failures in a row at the next pool. */
  failures: Generated<number>
  /** Time of the next step; null once the run has ended. */
  next_step_at: number | null
  ended_at: Generated<number | null>
}

/** Claims that a run has started. Each is signed at most once. */
interface FeeScheduleClaimsTable {
  seq: Generated<number>
  run_id: string
  pool_address: string
  kind: string
  /** `open` until it is `signed`, or has `ended` without a known signature. */
  state: 'open' | 'signed' | 'ended'
  /** Id of its signing, which a later attempt completes. */
  signing_id: Generated<string | null>
  signature: Generated<string | null>
  estimated_quote: Generated<string | null>
  reason: Generated<string | null>
  message: Generated<string | null>
}

export interface FeeTables {
  fee_claims: FeeClaimsTable
  fee_schedules: FeeSchedulesTable
  fee_schedule_runs: FeeScheduleRunsTable
  fee_schedule_claims: FeeScheduleClaimsTable
}
