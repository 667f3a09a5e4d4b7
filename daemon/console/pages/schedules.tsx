/** /console/signer/schedules: the schedules of fee claims, with their runs, and pausing one. */
import { api, type FeeSchedule, type FeeScheduleRun } from '../../../src/api/index.ts'
import { Act, CommandOf } from '../act.tsx'
import type { ConsolePage } from '../page.ts'
import { waitingFor } from '../sections.tsx'
import { folded, linked, readTable, Table, tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { Fields, Time, Value } from '../values.tsx'
import type { View } from '../view.ts'
import { SIGNER_PLACES } from './signer.tsx'

const ROOT = '/console/signer/schedules'

const FEE_SCHEDULES = tableOf<FeeSchedule>({
  title: 'Fee schedules',
  route: api.feeSchedules.list,
  call: (client, query) => client.feeSchedules.list(query),
  empty: 'There are no fee schedules. `svc fees schedule create` adds one.',
  columns: [
    linked<FeeSchedule>('id', ({ id }) => `${ROOT}/${id}`),
    'cron',
    'timezone',
    'kinds',
    'active',
    'next_run_at',
    { head: 'Last run', cell: ({ id }, view) => <LastRun view={view} id={id} /> },
    { head: 'Act', cell: (schedule, view) => <PauseOrResume view={view} schedule={schedule} /> },
  ],
})

async function LastRun({ view, id }: { view: View; id: string }) {
  const [run] = (await view.client.feeSchedules.runs({ id, limit: '1' })).data
  if (run === undefined) return <Value name="run" value={null} />
  const { started_at, status, reason, claimed } = run
  return (
    <>
      <Time at={started_at} />, {reason === null ? status : `${status}: ${reason}`}, {claimed} claimed
    </>
  )
}

/** A pause is an act; after a resume the platform wallet signs, so that is a command. */
const PauseOrResume = ({ view, schedule: { id, active } }: { view: View; schedule: FeeSchedule }) =>
  active ? (
    <Act view={view} act="pause-schedule" input={{ id, active: false }} />
  ) : (
    <CommandOf view={view} route={api.feeSchedules.update} input={{ id, active: true }} />
  )

const schedules = tablePage({
  path: ROOT,
  title: 'Fee schedules',
  siblings: SIGNER_PLACES,
  live: ['transactions', 'time'],
  table: FEE_SCHEDULES,
})

const RUNS = tableOf<FeeScheduleRun>({
  title: 'Runs',
  route: api.feeSchedules.runs,
  call: (client, query) => client.feeSchedules.runs({ id: '', ...query }),
  empty: 'It has not run yet.',
  columns: [
    'started_at',
    'scheduled_at',
    'status',
    'reason',
    'pools',
    'claimed',
    folded<FeeScheduleRun>('claims'),
    folded<FeeScheduleRun>('skipped'),
    folded<FeeScheduleRun>('missed'),
    'ended_at',
  ],
})

const schedule: ConsolePage = {
  path: `${ROOT}/{id}`,
  title: 'Fee schedule',
  siblings: SIGNER_PLACES,
  live: ['transactions', 'time'],
  async content(view) {
    const { id = '' } = view.params
    const { data } = await view.client.feeSchedules.get({ id })
    const table = await readTable(view, RUNS, { id })
    return {
      table,
      body: (
        <>
          <div id="schedule" data-live>
            {await waitingFor(view, { subject: id })}
            <Fields record={data} />
            <PauseOrResume view={view} schedule={data} />
          </div>
          <Table view={view} shown={table} />
        </>
      ),
    }
  },
}

export const schedulePages = [schedules, schedule]
