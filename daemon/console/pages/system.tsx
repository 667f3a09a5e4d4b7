/** /console/system: readiness, workers, nodes, database, queues, what is kept for how long, and the chain. */
import { api } from '../../../src/api/index.ts'
import { SETTINGS, type SettingName } from '../../../src/settings/config.ts'
import { SameDetails } from '../act.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { shownOf } from '../sections.tsx'
import { Records, Rows } from '../table.tsx'
import { clean, Fields, wordsOf } from '../values.tsx'
import { linkTo, type View } from '../view.ts'

const WORKER_FIELDS = [
  'name',
  'healthy',
  'last_tick_at',
  'ticks_total',
  'errors_total',
  'last_error',
  'stalled_reason',
] as const

/** What is shown of /metrics, by the beginning of the names; zeros are left out. */
const FIGURES: Readonly<Record<string, RegExp>> = {
  'Database and disk': /^svc_(?:database|data_dir)_/,
  Nodes: /^svc_rpc_endpoint_/,
  Queues: /^svc_(?:webhook_queue|jobs|transactions_followed)/,
}
/** Kinds of attention that concern this machine and its nodes. */
const OF_SYSTEM = /^(?:records|node|other_consensus|worker|backup|disk)/

export const systemPage: ConsolePage = {
  path: '/console/system',
  title: 'System',
  inNavigation: true,
  live: ['time'],
  async content(view) {
    const { data: health } = await view.client.service.health()
    const { data: state } = await view.client.service.workers()
    const ready = JSON.parse(await view.read('/ready')) as { data: object }
    const figures = figuresIn(await view.read('/metrics'))
    return {
      body: (
        <div id="system" data-live>
          {await waiting(view)}
          <h2>Service</h2>
          <Fields record={{ version: health.version, observed_at: state.observed_at, ...ready.data }} />
          <h2>Workers</h2>
          <Records title="Workers" records={state.workers} fields={WORKER_FIELDS} empty="No worker runs here." />
          <SameDetails same={sameAs(view, api.service.workers, {})} />
          {Object.entries(FIGURES).map(([title, names]) => (
            <>
              <h2>{title}</h2>
              <Rows
                title={title}
                heads={['Figure', 'Of', 'Value']}
                rows={figures.filter(({ name, value }) => names.test(name) && value !== '0').map(rowOf)}
                empty="All figures are 0."
              />
            </>
          ))}
          <h2>What is kept</h2>
          {retention(view)}
          <h2>Chain</h2>
          {await shownOf(view.client.service.cluster(), (cluster) => <Fields record={cluster} />)}
          <SameDetails same={sameAs(view, api.service.cluster, {})} />
        </div>
      ),
    }
  },
}

/** Failed and old backups, late workers and the like, as the list of what needs a person has them. */
async function waiting({ client }: View) {
  const { data } = await client.attention.list({ limit: '100' })
  const own = data.filter(({ kind }) => OF_SYSTEM.test(kind))
  if (own.length === 0) return null
  return (
    <ul role="alert">
      {own.map(({ summary, kind }) => (
        <li>
          <a href={linkTo('/console', { kind })}>{clean(summary)}</a>
        </li>
      ))}
    </ul>
  )
}

interface Figure {
  name: string
  help: string
  labels: string
  value: string
}

/** The figures of a text in the format of Prometheus, each with what it says about itself. */
function figuresIn(text: string): Figure[] {
  const helps = new Map(Array.from(text.matchAll(/^# HELP (\w+) (.*)$/gm), ([, name = '', help = '']) => [name, help]))
  const lines = text.matchAll(/^(svc_\w+)(?:\{(.*)\})? ([^ \n]+)$/gm)
  return Array.from(lines, ([, name = '', labels = '', value = '']) => ({
    name,
    help: helps.get(name) ?? wordsOf(name),
    labels: labels.replaceAll(/\w+="((?:[^"\\]|\\.)*)"/g, '$1').replaceAll(',', ', '),
    value,
  }))
}

const MIB = 1024 ** 2

function rowOf({ name, help, labels, value }: Figure) {
  const shown = name.endsWith('_bytes') ? `${(Number(value) / MIB).toFixed(1)} MiB` : value
  return [clean(help), labels === '' ? <span class="none">–</span> : clean(labels), <span class="number">{shown}</span>]
}

function retention({ config }: View) {
  const names = (Object.keys(SETTINGS) as SettingName[]).filter((name) => name.startsWith('retention.'))
  const rows = names.map((name) => [name, String(config.values[name]), SETTINGS[name].about])
  return <Rows title="What is kept" heads={['Setting', 'Days', 'Meaning']} rows={rows} empty="" />
}
