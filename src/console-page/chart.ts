/** Draws the charts of a page with uPlot; their figures are in a table below each. */
import uPlot from 'uplot'

interface ChartData {
  x: number[]
  isTime: boolean
  xLabel: string
  series: { label: string; values: (number | null)[] }[]
  mark: { x: number; y: number; label: string } | null
}

const HEIGHT = 220
const COLOURS = ['--line', '--line-2', '--line-3']

/** Prices of tokens are often far below one. */
const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })
const shown = (value: number | null) => (value === null ? '–' : number.format(value))

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name)

/** A dot where something stands now. */
const marked = ({ mark }: ChartData) => ({
  hooks: {
    draw: [
      (plot: uPlot) => {
        if (mark === null) return
        const { ctx } = plot
        ctx.beginPath()
        ctx.arc(plot.valToPos(mark.x, 'x', true), plot.valToPos(mark.y, 'y', true), 6, 0, 2 * Math.PI)
        ctx.fillStyle = colour('--mark')
        ctx.fill()
      },
    ],
  },
})

function draw(place: HTMLElement): void {
  const data = JSON.parse(place.dataset.chart ?? '') as ChartData
  const axis = {
    stroke: colour('--ink'),
    grid: { stroke: colour('--edge'), width: 1 },
    ticks: { stroke: colour('--edge'), width: 1 },
  }
  const plot = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      scales: { x: { time: data.isTime } },
      axes: [axis, { ...axis, size: 90, values: (_, ticks) => ticks.map(shown) }],
      series: [
        { label: data.xLabel },
        ...data.series.map(({ label }, at) => ({
          label,
          stroke: colour(COLOURS[at] ?? '--line'),
          width: 2,
          value: (_: uPlot, value: number | null) => shown(value),
        })),
      ],
      plugins: [marked(data)],
    },
    [data.x, ...data.series.map(({ values }) => values)],
    place,
  )
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT })).observe(place)
}

function drawAll(): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-chart]:empty')) draw(place)
}

drawAll()
// A part of an open page that was read again brings charts that are not drawn yet.
new MutationObserver(drawAll).observe(document.body, { childList: true, subtree: true })
