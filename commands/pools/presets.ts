/** `svc pools presets`: the curves that pools can be launched with. */

import { paths } from '../../src/api/paths.ts'
import type { PoolPreset } from '../../src/api/pool-presets.ts'
import { groupedText } from '../../src/solana/amounts.ts'
import { quoteUnitOf, shortOf, sqrtPriceFromText } from '../../src/solana/launch-curve.ts'
import { toggle, verb } from '../cli/command.ts'
import { drawCurve, drawingWidth } from '../ui/curve.ts'
import { allPresets } from './all-presets.ts'

const columns = [
  'name',
  'supply',
  'decimals',
  'start_cap',
  'migration_cap',
  'threshold',
  'start_price',
  'migration_price',
  'fee',
  'quote',
] as const

export const presets = verb({
  about: 'List the curves that pools can be launched with',
  details:
    'Caps, prices and the threshold that fills the curve are in SOL, or in the quote that is shown beside the name; the supply is in whole tokens.',
  calls: [paths.pools.presets],
  flags: { curve: toggle('Draw them') },
  examples: ['svc pools presets', 'svc pools presets --curve'],
  async run({ curve }, { client }) {
    const data = await allPresets(client)
    const rows = { columns, rows: data.map(presetRow) }
    const { name = '' } = data.find(({ is_default }) => is_default) ?? {}
    const notes = [
      `Without --preset, \`svc pools create\` uses ${name}; the file in the setting \`pools.presets\` adds others.`,
    ]
    if (curve) return { data, rows, text: data.map(drawnPreset).join('\n\n'), notes }
    const table = { columns: ['name', 'supply', 'cap', 'threshold', 'price', 'fee'], rows: data.map(presetCells) }
    return { data, rows, table, notes }
  },
})

function presetRow(preset: PoolPreset): unknown[] {
  const { name, total_supply, decimals, initial_market_cap, migration_market_cap, fee } = preset
  const threshold = shortOf(BigInt(preset.migration_threshold), quoteOf(preset).decimals)
  const prices = [shortPrice(preset.initial_price), shortPrice(preset.migration_price)]
  return [
    name,
    total_supply,
    decimals,
    initial_market_cap,
    migration_market_cap,
    threshold,
    ...prices,
    presetFee(fee),
    quoteOf(preset).unit,
  ]
}

/** The cells of a preset, with joined columns so that the table fits 80 characters. */
function presetCells(preset: PoolPreset): string[] {
  const [name, supply, , start, end, threshold, first, last, fee, quote] = presetRow(preset)
  const title = quote === 'SOL' ? name : `${name} (${quote})`
  return [title, groupedText(String(supply)), `${start} → ${end}`, threshold, `${first} → ${last}`, fee].map(String)
}

const quoteOf = ({ quote_mint, quote_decimals }: PoolPreset) => quoteUnitOf(quote_mint, quote_decimals ?? null)

const presetFee = ({ starting_bps, ending_bps, duration_seconds }: PoolPreset['fee']) =>
  starting_bps === ending_bps
    ? `${starting_bps / 100} %`
    : `${starting_bps / 100} → ${ending_bps / 100} % in ${duration_seconds} s`

function shortPrice(price: string): string {
  const [whole = '0', fraction = ''] = price.split('.')
  return shortOf(BigInt(whole + fraction), fraction.length)
}

function drawnPreset(preset: PoolPreset): string {
  const { name, is_default, decimals, total_supply, initial_market_cap, migration_market_cap, fee } = preset
  const quote = quoteOf(preset)
  const shape = {
    start: sqrtPriceFromText(preset.initial_price, decimals, quote),
    points: preset.curve.map(({ sqrt_price, liquidity }) => ({
      sqrtPrice: BigInt(sqrt_price),
      liquidity: BigInt(liquidity),
    })),
    decimals,
    quote,
  }
  return [
    `${name}${is_default ? ' (default)' : ''}`,
    `${total_supply} tokens, market cap ${initial_market_cap} → ${migration_market_cap} ${quote.unit}, fee ${presetFee(fee)}`,
    ...drawCurve(shape, null, drawingWidth()),
  ].join('\n')
}
