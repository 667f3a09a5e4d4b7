/** `svc fees schedule`: claims that the platform wallet makes by itself, at the times of a cron expression. */
import type { Beneficiary, FeeClaimKind } from '../../src/api/fee-claims.ts'
import type { FeeSchedule, FeeScheduleRun } from '../../src/api/fee-schedules.ts'
import { paths } from '../../src/api/paths.ts'
import { refusedSchedules } from '../attention/lines.ts'
import { LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import {
  type CommandOutcome,
  choiceOf,
  type InputValues,
  listOf,
  required,
  text,
  toggle,
  type Verb,
  verb,
} from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { ALLOW_PROGRAMS, programsField } from '../signing/flags.ts'
import { usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'
import { readSplits, SPLIT_FLAGS } from './splits.ts'

const at = paths.feeSchedules
const SCHEDULE_ID = { id: required(text('Id of the schedule')) }
const CRON = text('Minute, hour, day of month, month and day of week, or a name such as @daily', {
  placeholder: 'CRON',
})

const termFlags = {
  timezone: text('Time zone of --cron (default UTC)', { placeholder: 'ZONE' }),
  kinds: listOf<FeeClaimKind>('What is claimed, as `svc fees claim --kind` (default dbc)', { placeholder: 'KIND,…' }),
  as: choiceOf(['partner', 'creator'], 'Whose share is claimed, if that is the platform wallet'),
  min: text('Least SOL that a pool must hold to be claimed; as raw units it counts for other quotes too', {
    placeholder: 'SOL',
    conflicts: ['threshold'],
  }),
  threshold: text('The same in raw units of each pool’s own quote; for pools of several quotes make a schedule each', {
    placeholder: 'UNITS',
  }),
  ...SPLIT_FLAGS,
  allow_programs: ALLOW_PROGRAMS,
  pools: listOf('Only these pools, with no other filter', { placeholder: 'ADDR,…' }),
  preset: text('Only launches of this preset, and what they migrated to', { placeholder: 'NAME' }),
  creator: text('Only launches of this wallet, and what they migrated to', { placeholder: 'WALLET' }),
  status: choiceOf(['live', 'migration_triggered', 'migrated'], 'Only launches in this state', {
    migration_triggered: 'the curve is full',
  }),
}
type TermFlags = InputValues<typeof termFlags>

export const scheduleVerbs: Record<string, Verb> = {
  'schedule create': verb({
    about: 'Claim fees by a schedule',
    details:
      'The platform wallet signs each claim within its policy, as with `svc fees claim --signed`, for every pool whose fees are its own. A daemon with workers must run.',
    calls: [at.create],
    flags: {
      cron: required(CRON),
      ...termFlags,
      paused: toggle('Create it paused; svc fees schedule resume starts it'),
    },
    examples: [
      'svc fees schedule create --cron "0 6 * * *" --kinds dbc,damm_v2 --min 0.05',
      'svc fees schedule create --cron @hourly --split 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g:7500,6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78:2500 --timezone Europe/Zurich',
    ],
    async run({ cron, paused, ...flags }, session) {
      const { data } = await session.client.feeSchedules.create({
        cron,
        ...(await termsGiven(flags)),
        ...(paused ? { active: false } : {}),
      })
      return scheduleOutcome(data)
    },
  }),
  'schedule list': listVerb({
    about: 'List fee schedules, newest first',
    at: [at.list, paths.attention.list],
    filters: {
      active: choiceOf(['true', 'false'], 'Only active ones, or only the others', {
        true: 'active',
        false: 'the others',
      }),
    },
    examples: ['svc fees schedule list', 'svc fees schedule list --active true --json'],
    columns: ['id', 'cron', 'timezone', 'kinds', 'threshold', 'active', 'next_run_at'],
    table: (schedules: readonly FeeSchedule[]) => ({
      columns: ['id', 'cron', 'kinds', 'next_run_at'],
      rows: schedules.map(({ id, cron, timezone, kinds, next_run_at }) => [
        id,
        timezone === 'UTC' ? cron : `${cron} ${timezone}`,
        kinds,
        next_run_at ?? 'paused',
      ]),
    }),
    notes: (schedules, session) =>
      refusedSchedules(
        session,
        schedules.map(({ id }) => id),
      ),
    call: (client, query) => client.feeSchedules.list(query),
  }),
  'schedule get': verb({
    about: 'Read one fee schedule',
    calls: [at.get, paths.attention.list],
    args: SCHEDULE_ID,
    examples: [
      'svc fees schedule get fsc_5TgBn1Xe8WkRq3YvMz6JcH2s',
      'svc fees schedule get fsc_5TgBn1Xe8WkRq3YvMz6JcH2s --json',
    ],
    async run({ id }, session) {
      const { data } = await session.client.feeSchedules.get({ id })
      return { ...scheduleOutcome(data), notes: await refusedSchedules(session, [id]) }
    },
  }),
  'schedule update': verb({
    about: 'Change a fee schedule',
    details: 'A run in progress keeps the settings that it started with. A new filter replaces all earlier ones.',
    calls: [at.update],
    args: SCHEDULE_ID,
    flags: {
      cron: CRON,
      ...termFlags,
      unsplit: toggle('Pay everything to the platform wallet again', { conflicts: Object.keys(SPLIT_FLAGS) }),
      every_pool: toggle('Claim from every pool again', { conflicts: ['pools', 'preset', 'creator', 'status'] }),
    },
    examples: [
      'svc fees schedule update fsc_5TgBn1Xe8WkRq3YvMz6JcH2s --cron "0 */6 * * *"',
      'svc fees schedule update fsc_5TgBn1Xe8WkRq3YvMz6JcH2s --min 0.1 --unsplit',
    ],
    async run({ id, cron, unsplit, every_pool, ...flags }, { client }) {
      const terms = await termsGiven(flags)
      const changes = {
        ...(cron === undefined ? {} : { cron }),
        ...terms,
        ...(unsplit ? { splits: null } : {}),
        ...(every_pool ? { filter: {} } : {}),
      }
      if (Object.keys(changes).length === 0)
        throw usage('nothing to change', { next: '`svc fees schedule update --help` shows what can be changed' })
      return scheduleOutcome((await client.feeSchedules.update({ id, ...changes })).data)
    },
  }),
  'schedule pause': switchVerb('Pause a fee schedule, and stop its run', false, [
    'svc fees schedule pause fsc_5TgBn1Xe8WkRq3YvMz6JcH2s',
    'svc fees schedule pause fsc_5TgBn1Xe8WkRq3YvMz6JcH2s --json',
  ]),
  'schedule resume': switchVerb('Resume a fee schedule with its next period', true, [
    'svc fees schedule resume fsc_5TgBn1Xe8WkRq3YvMz6JcH2s',
    'svc fees schedule resume fsc_5TgBn1Xe8WkRq3YvMz6JcH2s --json',
  ]),
  'schedule delete': verb({
    about: 'Remove a fee schedule, and stop its run',
    calls: [at.delete],
    args: SCHEDULE_ID,
    examples: [
      'svc fees schedule delete fsc_5TgBn1Xe8WkRq3YvMz6JcH2s',
      'svc fees schedule delete fsc_5TgBn1Xe8WkRq3YvMz6JcH2s --yes',
    ],
    async run({ id }, { client, ui }) {
      await ui.confirm(`Remove the schedule ${id}? Its fees are no longer claimed automatically.`)
      return { data: (await client.feeSchedules.delete({ id })).data, text: `Removed ${id}.` }
    },
  }),
  'schedule runs': listVerb({
    about: 'List the runs of a fee schedule, newest first',
    at: at.runs,
    args: SCHEDULE_ID,
    examples: [
      'svc fees schedule runs fsc_5TgBn1Xe8WkRq3YvMz6JcH2s',
      'svc fees schedule runs fsc_5TgBn1Xe8WkRq3YvMz6JcH2s --limit 5 --json',
    ],
    columns: ['id', 'scheduled_at', 'status', 'reason', 'pools', 'claimed', 'skips', 'started_at', 'ended_at'],
    table: (runs: readonly FeeScheduleRun[]) => ({
      columns: ['scheduled_at', 'status', 'pools', 'claimed', 'skipped', 'missed'],
      rows: runs.map((run) => [
        run.scheduled_at ?? `asked ${timeText(run.started_at)}`,
        run.reason === null ? run.status : `${run.status}: ${run.reason}`,
        run.pools,
        run.claimed,
        skipsText(run),
        run.missed?.count ?? null,
      ]),
    }),
    call: (client, query) => client.feeSchedules.runs(query),
  }),
  'schedule run': verb({
    about: 'Run a fee schedule now, in addition to its periods',
    calls: [at.run, paths.attention.list],
    args: SCHEDULE_ID,
    examples: [
      'svc fees schedule run fsc_5TgBn1Xe8WkRq3YvMz6JcH2s',
      'svc fees schedule run fsc_5TgBn1Xe8WkRq3YvMz6JcH2s --json',
    ],
    async run({ id }, { client }) {
      const { data } = await client.feeSchedules.run({ id })
      const { role } = (await client.service.workers()).data
      const without = 'No daemon runs here; the run starts when one with workers does: `svc serve`.'
      return {
        data,
        record: { id: data.id, schedule_id: data.schedule_id, status: data.status, started_at: data.started_at },
        notes: [...(role === null ? [without] : []), `\`svc fees schedule runs ${id}\` shows the result.`],
      }
    },
  }),
}

function switchVerb(about: string, active: boolean, examples: readonly string[]): Verb {
  return verb({
    about,
    calls: [at.update],
    args: SCHEDULE_ID,
    examples,
    run: async ({ id }, { client }) => scheduleOutcome((await client.feeSchedules.update({ id, active })).data),
  })
}

const skipsText = ({ skips }: FeeScheduleRun) =>
  Object.entries(skips)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ')

/** Leaves out empty fields, and shows splits and filter as they are typed. */
function scheduleOutcome(data: FeeSchedule): CommandOutcome {
  const { splits, filter, external_uid, metadata, beneficiary, threshold, ...shown } = data
  return {
    data,
    record: {
      ...shown,
      threshold:
        threshold === '0' ? '0' : `${solOf(BigInt(threshold))} SOL, or ${threshold} raw units of another quote`,
      ...(beneficiary === null ? {} : { beneficiary }),
      splits: splits?.map(({ recipient, bps }) => `${recipient}:${bps}`).join(', ') ?? null,
      pools: Object.keys(filter).length === 0 ? 'every pool' : filterText(filter),
      ...(external_uid === null ? {} : { external_uid }),
      ...(metadata === null ? {} : { metadata }),
    },
  }
}

const filterText = ({ pools, ...others }: FeeSchedule['filter']) =>
  pools?.join(', ') ??
  Object.entries(others)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

/** The fields of a request that the flags name. */
async function termsGiven(flags: TermFlags) {
  const { timezone, kinds, as, min, threshold, split, split_file, pools, preset, creator, status } = flags
  const least = min === undefined ? threshold : String(rawUnits(min, LAMPORT_DECIMALS, '--min'))
  const splits = await readSplits(split, split_file)
  const filter = {
    ...(pools === undefined ? {} : { pools }),
    ...(preset === undefined ? {} : { preset }),
    ...(creator === undefined ? {} : { creator }),
    ...(status === undefined ? {} : { status }),
  }
  const beneficiary: Beneficiary | undefined = as
  return {
    ...(timezone === undefined ? {} : { timezone }),
    ...(kinds === undefined ? {} : { kinds }),
    ...(beneficiary === undefined ? {} : { beneficiary }),
    ...(least === undefined ? {} : { threshold: least }),
    ...(splits === undefined ? {} : { splits }),
    ...programsField(flags),
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
  }
}
