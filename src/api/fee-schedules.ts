/**
 * Fee schedules: claims that the platform wallet makes automatically at the times of a cron expression, and their
 * runs.
 */
import { z } from '@hono/zod-openapi'
import { address, allowProgramsField, poolAddress, signatureText, u64Digits } from './chain-scalars.ts'
import { approverField, deletedSchema, listQuery, writeBody } from './envelope.ts'
import {
  BENEFICIARIES,
  BENEFICIARIES_OF,
  FEE_CLAIM_KINDS,
  type FeeClaimKind,
  feeSplit,
  feeSplits,
} from './fee-claims.ts'
import { queryFlag } from './filters.ts'
import { storedMetadata } from './metadata.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, nullOr, recordId, timestamp } from './scalars.ts'

/** The most addresses in one filter. */
const MOST_POOLS = 100
/** Statuses of pools that can hold fees. */
const CLAIMABLE_STATUSES = ['live', 'migration_triggered', 'migrated'] as const

export const SCHEDULE_SKIPS = [
  'below_threshold',
  'nothing_to_claim',
  'not_owner',
  'proposed',
  'waiting',
  'policy',
  'error',
] as const
export type ScheduleSkip = (typeof SCHEDULE_SKIPS)[number]

const SCHEDULE_RUN_STATUSES = ['running', 'done', 'skipped', 'stopped'] as const
const SCHEDULE_RUN_REASONS = [
  'signer_paused',
  'no_signer',
  'other_cluster',
  'policy',
  'schedule_paused',
  'schedule_deleted',
] as const
export type ScheduleRunReason = (typeof SCHEDULE_RUN_REASONS)[number]

const cron = line(100).meta({
  description: 'Five fields (minute, hour, day of month, month, day of week) or a name such as `@daily`',
  example: '0 6 * * *',
})
const timezone = line(64).meta({
  description: 'IANA time zone of the cron expression; an hour that occurs twice counts once',
  example: 'Europe/Zurich',
})
const threshold = u64Digits.meta({
  description:
    'A pool is claimed only if it holds at least this much, summed over the kinds of the schedule, in raw units of its own quote (lamports for SOL). Amounts in the pool’s token, or in SOL if the quote is another token, do not count',
  example: '10000000',
})
const kinds = z
  .array(z.enum(FEE_CLAIM_KINDS))
  .min(1)
  .max(FEE_CLAIM_KINDS.length)
  .refine((items) => new Set(items).size === items.length, 'must not contain a kind twice')
  .meta({ description: 'What is claimed; each kind has its own transaction', example: ['dbc', 'damm_v2'] })
const scheduleBeneficiary = z.enum(BENEFICIARIES).meta({
  description:
    'Whose share is claimed, if it belongs to the platform wallet. By default the partner, and for `vesting` the creator',
})
const filter = z
  .strictObject({
    pools: z
      .array(address)
      .min(1)
      .max(MOST_POOLS)
      .refine((items) => new Set(items).size === items.length, 'must not contain a pool twice')
      .optional()
      .meta({ description: 'Only these pools, without any other filter; they need no record' }),
    preset: line(64).optional().meta({ description: 'Launches of this preset, and the pools they migrated to' }),
    creator: address.optional().meta({ description: 'Launches of this wallet, and the pools they migrated to' }),
    status: z.enum(CLAIMABLE_STATUSES).optional().meta({ description: 'Launches in this state' }),
  })
  .refine(({ pools, ...others }) => pools === undefined || Object.keys(others).length === 0, {
    path: ['pools'],
    error: 'cannot be combined with preset, creator and status: leave them out',
  })
  .openapi('FeeScheduleFilter')

/** Settings of a schedule's claims; a run uses the ones it started with. */
const termsShape = {
  kinds,
  beneficiary: nullOr(scheduleBeneficiary),
  threshold,
  splits: nullOr(z.array(feeSplit)),
  filter,
  allow_programs: z.boolean().meta({ description: 'Whether splits may pay addresses of programs' }),
  approver: nullOr(approverField).meta({
    description:
      'Multisig whose vault claims: a run proposes each claim to it, as the member that the platform wallet is, while no other proposal of that pool and kind is open',
  }),
}
const termsSchema = z.object(termsShape)
export type ScheduleTerms = z.output<typeof termsSchema>

export const feeSchedule = z
  .object({
    id: z.string(),
    cron,
    timezone,
    ...termsShape,
    active: z.boolean(),
    next_run_at: timestamp.nullable().meta({ description: 'The next period; null while it is paused' }),
    external_uid: z.string().nullable(),
    metadata: storedMetadata.nullable(),
    created_by: z.string().meta({ description: 'Id of the API key that created it' }),
    updated_by: z.string().meta({ description: 'Id of the API key that changed it last' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('FeeSchedule')

const runClaim = z.object({
  pool_address: poolAddress,
  kind: z.enum(FEE_CLAIM_KINDS),
  estimated_quote: z.string().nullable().meta({ description: 'Raw units of the quote' }),
  estimated_base: z.string().nullable().meta({ description: 'Raw units of the token' }),
  estimated_lamports: z.string().nullable().meta({ description: 'Of a pool creation fee' }),
  signature: signatureText,
})
const runSkip = z.object({
  pool_address: poolAddress,
  kind: z.enum(FEE_CLAIM_KINDS),
  reason: z.enum(SCHEDULE_SKIPS),
  estimated_quote: z.string().nullable(),
  message: z.string().nullable(),
})
export type ScheduleRunClaim = z.output<typeof runClaim>
export type ScheduleRunSkip = z.output<typeof runSkip>

const feeScheduleRun = z
  .object({
    id: z.string(),
    schedule_id: z.string(),
    scheduled_at: timestamp
      .nullable()
      .meta({ description: 'The period, as the time of the cron expression; null for a run started by request' }),
    status: z.enum(SCHEDULE_RUN_STATUSES).meta({
      description: '`skipped`: nothing was signed, see the reason; `stopped`: it ended before its last pool',
    }),
    reason: z.enum(SCHEDULE_RUN_REASONS).nullable(),
    missed: z
      .object({ count: z.int().min(1), from: timestamp, until: timestamp })
      .nullable()
      .meta({
        description:
          'Periods before this one without a run, for example because no daemon was running; counted up to 1,000',
      }),
    pools: z.int().min(0).meta({ description: 'Pools that were examined' }),
    claimed: z.int().min(0).meta({ description: 'Claims that were signed' }),
    claims: z.array(runClaim).meta({ description: 'The first 100 of them' }),
    skips: z
      .record(z.string(), z.int().min(0))
      .meta({ description: 'Claims that were not made, by reason', example: { below_threshold: 12 } }),
    skipped: z.array(runSkip).meta({ description: 'Up to 100 of them, refusals and errors first' }),
    external_uid: z.string().nullable(),
    metadata: storedMetadata.nullable(),
    started_at: timestamp,
    ended_at: timestamp.nullable(),
  })
  .openapi('FeeScheduleRun')

export type FeeSchedule = z.output<typeof feeSchedule>
export type FeeScheduleRun = z.output<typeof feeScheduleRun>

const SIGNS = 'The platform wallet signs the claims later, even if the API key of this request is revoked by then.'
const scheduleParams = z.object({ id: recordId.meta({ example: 'fsc_5TgBn1Xe8WkRq3YvMz6JcH2s' }) })

/** Checks the fields of a schedule against each other; returns the path and the fault, or null. */
export function termsFault({
  kinds,
  beneficiary,
  splits,
}: Pick<ScheduleTerms, 'kinds' | 'beneficiary' | 'splits'>): { path: [string, ...number[]]; message: string } | null {
  if (splits !== null && kinds.some((kind) => kind !== 'dbc'))
    return { path: ['splits'], message: 'splits are only valid with kinds ["dbc"]' }
  const at = kinds.findIndex((kind) => beneficiary !== null && !BENEFICIARIES_OF[kind].includes(beneficiary))
  const kind: FeeClaimKind | undefined = kinds[at]
  return kind === undefined
    ? null
    : { path: ['kinds', at], message: `kind ${kind} pays only the ${BENEFICIARIES_OF[kind][0]}` }
}

const FEE_SCHEDULES_TAG: Tag = {
  name: 'Fee schedules',
  description: 'Claims that the platform wallet signs automatically, at the times of a cron expression.',
}

export const feeSchedules = {
  create: defineRoute({
    at: ['post', '/v2/fee-schedules'],
    tag: FEE_SCHEDULES_TAG,
    atomic: true,
    summary: 'Claim fees by a schedule',
    description: SIGNS,
    body: writeBody({
      cron,
      timezone: timezone.default('UTC'),
      kinds: kinds.default(['dbc']),
      beneficiary: scheduleBeneficiary.optional(),
      threshold: threshold.default('0'),
      splits: feeSplits.optional(),
      allow_programs: allowProgramsField,
      filter: filter.default({}),
      approver: approverField.optional(),
      active: z.boolean().default(true),
    }).superRefine(({ kinds, beneficiary = null, splits = null }, context) => {
      const fault = termsFault({ kinds, beneficiary, splits })
      if (fault !== null) context.addIssue({ code: 'custom', ...fault })
    }),
    data: feeSchedule,
    status: 201,
    scope: 'fees:claim',
  }),
  list: defineRoute({
    at: ['get', '/v2/fee-schedules'],
    tag: FEE_SCHEDULES_TAG,
    summary: 'List fee schedules, newest first',
    description: 'Each with its times, what it claims, and when it runs next.',
    query: listQuery({ active: queryFlag.optional() }),
    data: feeSchedule,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/fee-schedules/{id}'],
    tag: FEE_SCHEDULES_TAG,
    summary: 'Read one fee schedule',
    description: 'With its state and its next run. What earlier runs did is in the list of its runs.',
    params: scheduleParams,
    data: feeSchedule,
  }),
  update: defineRoute({
    at: ['patch', '/v2/fee-schedules/{id}'],
    tag: FEE_SCHEDULES_TAG,
    atomic: true,
    summary: 'Change, pause or resume a fee schedule',
    description: `${SIGNS} A pause stops the current run; periods during a pause do not count as missed.`,
    params: scheduleParams,
    body: writeBody({
      cron: cron.optional(),
      timezone: timezone.optional(),
      kinds: kinds.optional(),
      beneficiary: nullOr(scheduleBeneficiary).optional(),
      threshold: threshold.optional(),
      splits: nullOr(feeSplits)
        .optional()
        .meta({ description: 'With null, everything is paid to the platform wallet' }),
      allow_programs: z.boolean().optional().meta({
        description: 'Whether splits may pay addresses of programs; false by default if `splits` is new',
      }),
      approver: nullOr(approverField)
        .optional()
        .meta({ description: 'With null, the platform wallet claims what belongs to it' }),
      filter: filter.optional().meta({ description: 'Replaces the filter; `{}` selects every pool' }),
      active: z.boolean().optional(),
    }),
    example: { cron: '0 */6 * * *' },
    data: feeSchedule,
    scope: 'fees:claim',
  }),
  delete: defineRoute({
    at: ['delete', '/v2/fee-schedules/{id}'],
    tag: FEE_SCHEDULES_TAG,
    atomic: true,
    summary: 'Remove a fee schedule, and stop its run',
    description:
      'A claim that is already signed is followed to its end. The records of its runs stay until they are older than the retention time.',
    params: scheduleParams,
    body: writeBody({}),
    data: deletedSchema,
    scope: 'fees:claim',
  }),
  runs: defineRoute({
    at: ['get', '/v2/fee-schedules/{id}/runs'],
    tag: FEE_SCHEDULES_TAG,
    summary: 'List the runs of a fee schedule, newest first',
    description: 'What each run examined and claimed, and what it did not claim, with the reason.',
    params: scheduleParams,
    query: listQuery({}),
    data: feeScheduleRun,
    list: true,
  }),
  run: defineRoute({
    at: ['post', '/v2/fee-schedules/{id}/runs'],
    tag: FEE_SCHEDULES_TAG,
    atomic: true,
    summary: 'Run a fee schedule now',
    description:
      'The run is in addition to the schedule’s periods, and possible while it is paused. A worker starts it within seconds.',
    params: scheduleParams,
    body: writeBody({}),
    data: feeScheduleRun,
    status: 201,
    scope: 'fees:claim',
  }),
}
