/** The one chart: drawn by the script of src/console-page/chart.ts, with its figures as a table for everybody. */
import { isoTime, SECOND_MS } from '../../src/platform/timing.ts'
import { Rows } from './table.tsx'

interface ChartProps {
  title: string
  /** What the horizontal axis shows; times are Unix seconds. */
  x: { label: string; isTime?: boolean; values: readonly number[] }
  series: readonly { label: string; values: readonly (number | null)[] }[]
  /** A point that is marked, for example where a pool stands on its curve. */
  mark?: { x: number; y: number; label: string }
}

const secondText = (seconds: number) =>
  `${isoTime(seconds * SECOND_MS)
    .slice(0, 19)
    .replace('T', ' ')} UTC`

export function Chart({ title, x, series, mark }: ChartProps) {
  const rows = x.values.map((value, at) => [
    x.isTime ? secondText(value) : String(value),
    ...series.map(({ values }) => String(values[at] ?? '–')),
  ])
  const data = { x: x.values, isTime: x.isTime === true, xLabel: x.label, series, mark: mark ?? null }
  return (
    <figure class="chart">
      <figcaption>{mark === undefined ? title : `${title}; ${mark.label}`}</figcaption>
      <div role="img" aria-label={title} data-chart={JSON.stringify(data)} />
      <details>
        <summary>Figures</summary>
        <Rows
          title={title}
          heads={[x.label, ...series.map(({ label }) => label)]}
          rows={rows}
          empty="There are no figures yet."
        />
      </details>
    </figure>
  )
}
