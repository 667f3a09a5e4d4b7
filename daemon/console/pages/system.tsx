/** /console/system: the service itself, its workers, and the chain that it uses. */
import { api } from '../../../src/api/index.ts'
import { ApiError } from '../../../src/platform/errors.ts'
import { SameDetails } from '../act.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { Rows } from '../table.tsx'
import { clean, Fields, Value, wordsOf } from '../values.tsx'
import type { View } from '../view.ts'

const WORKER_FIELDS = [
  'name',
  'healthy',
  'last_tick_at',
  'ticks_total',
  'errors_total',
  'last_error',
  'stalled_reason',
] as const

export const systemPage: ConsolePage = {
  path: '/console/system',
  title: 'System',
  inNavigation: true,
  live: ['time'],
  async content(view) {
    const { data: health } = await view.client.service.health()
    const { data: state } = await view.client.service.workers()
    const workers = state.workers.map((worker) =>
      WORKER_FIELDS.map((name) => <Value name={name} value={worker[name]} />),
    )
    return {
      body: (
        <div id="system" data-live>
          <h2>Service</h2>
          <Fields record={{ version: health.version, role: state.role, observed_at: state.observed_at }} />
          <h2>Workers</h2>
          <Rows title="Workers" heads={WORKER_FIELDS.map(wordsOf)} rows={workers} empty="No worker runs here." />
          <SameDetails same={sameAs(view, api.service.workers, {})} />
          <h2>Chain</h2>
          {await chain(view)}
          <SameDetails same={sameAs(view, api.service.cluster, {})} />
        </div>
      ),
    }
  },
}

/** A node that does not answer must not hide the rest. */
async function chain({ client }: View) {
  try {
    return <Fields record={(await client.service.cluster()).data} />
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return <p role="alert">{clean(error.message)}</p>
  }
}
