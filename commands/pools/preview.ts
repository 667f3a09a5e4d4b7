/** `svc pools preview`: a launch with a preset before it is made, as a table, a drawing and a picture. */
import { paths } from '../../src/api/paths.ts'
import type { PoolPreview } from '../../src/api/pool-previews.ts'
import { integer, text, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { drawingWidth } from '../ui/curve.ts'
import { writePicture } from '../ui/drawing.ts'
import { SVG } from '../ui/drawing-flags.ts'
import { plotLines, showsBraille } from '../ui/plot.ts'
import { allPresets } from './all-presets.ts'
import { closingLines, pointRows, pointTable, pricePoints, quoteName, shortly, shortText } from './preview-figures.ts'
import { previewSvg } from './preview-picture.ts'

export const preview = verb({
  about: 'Preview a launch: price, fees and shares along the curve, the migration, and what it costs',
  details:
    'Exact to the raw unit, if the first buy is in the transaction that makes the pool and the others buy from point to point, --after seconds later. The columns creator and partner show their shares of the trading fees so far; +2 % is what a buy must pay to raise the price by that much.',
  calls: [paths.pools.preview, paths.pools.presets],
  flags: {
    preset: text('Curve, see `svc pools presets`', { placeholder: 'NAME' }),
    buy: text("SOL, or whole tokens of the quote, of the creator's first buy", { placeholder: 'SOL' }),
    points: integer('Steps in which the curve is filled, 1 to 100 (default 20)'),
    after: integer('Seconds after the opening at which the others buy (default 0)', { placeholder: 'SECONDS' }),
    svg: SVG,
  },
  examples: [
    'svc pools preview --buy 0.5',
    'svc pools preview --preset standard --points 5 --after 3600 --json',
    'svc pools preview --buy 0.5 --svg curve.svg',
  ],
  async run({ preset, buy, points, after, svg }, session) {
    const name = preset ?? (await defaultPreset(session))
    const { data } = await session.client.pools.preview({
      name,
      ...(buy === undefined ? {} : { buy }),
      ...(points === undefined ? {} : { points: String(points) }),
      ...(after === undefined ? {} : { after: String(after) }),
    })
    const drawn = [...plotOf(data), '', ...closingLines(data)]
    const notes = svg === undefined ? [] : writePicture(svg, previewSvg(data))
    return { data, rows: pointRows(data), table: pointTable(data), text: drawn.join('\n'), notes }
  },
})

async function defaultPreset({ client }: Session): Promise<string> {
  const data = await allPresets(client)
  return data.find(({ is_default }) => is_default)?.name ?? 'standard'
}

function plotOf(data: PoolPreview): string[] {
  const unit = quoteName(data)
  const [first, last] = [data.points[0], data.points.at(-1)]
  const labels = {
    title: `${unit} for one token`,
    highest: shortText(last?.price ?? '0'),
    lowest: shortText(first?.price ?? '0'),
    first: '0',
    last: `${shortly(data.threshold, data.quote_decimals)} ${unit} raised`,
  }
  return plotLines(pricePoints(data), labels, drawingWidth(), showsBraille())
}
