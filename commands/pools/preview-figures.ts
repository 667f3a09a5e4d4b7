/** The figures of a preview as a terminal and a picture show them. */

import type { PoolPreview } from '../../src/api/pool-previews.ts'
import { solText } from '../../src/solana/amounts.ts'
import { groupedShortOf } from '../../src/solana/launch-curve.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, ratioOf } from '../cli/amounts.ts'
import type { Rows } from '../cli/command.ts'
import type { PlotPoint } from '../ui/plot.ts'

type PreviewedPoint = PoolPreview['points'][number]

const SHORT_DIGITS = 4

/** The name of the quote: SOL, or the beginning of its mint. */
export const quoteName = ({ quote_mint }: Pick<PoolPreview, 'quote_mint'>): string =>
  quote_mint === WRAPPED_SOL ? 'SOL' : `${quote_mint.slice(0, 4)}…`

/** Raw units in whole tokens, rounded to four digits. */
export function shortly(raw: string, decimals: number): string {
  const excess = Math.min(Math.max(0, raw.length - SHORT_DIGITS), decimals)
  return groupedShortOf(BigInt(raw) + 10n ** BigInt(excess) / 2n, decimals, SHORT_DIGITS)
}

/** A decimal text, rounded to four digits. */
export function shortText(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.')
  return shortly(String(BigInt(whole + fraction)), fraction.length)
}

/** The points of the price over the quote that was raised, from the lowest price to the highest. */
export function pricePoints({ points, threshold }: PoolPreview): PlotPoint[] {
  const squares = points.map(({ sqrt_price }) => BigInt(sqrt_price) ** 2n)
  const [least, most] = [squares[0] ?? 0n, squares.at(-1) ?? 0n]
  return points.map(({ quote_reserve }, i) => ({
    x: Math.min(1, ratioOf(BigInt(quote_reserve), BigInt(threshold))),
    y: ratioOf((squares[i] ?? 0n) - least, most - least),
  }))
}

/** The columns fit 80 characters; all digits are in the other formats. */
export function pointTable(preview: PoolPreview): Rows {
  const { quote_decimals: digits } = preview
  return {
    columns: ['at', 'raised', 'price', 'cap', 'sold', 'fee', 'creator', 'partner', '+2 %'],
    rows: preview.points.map((point) => [
      placeOf(point),
      shortly(point.quote_reserve, digits),
      shortText(point.price),
      shortly(point.market_cap, digits),
      `${(ratioOf(BigInt(point.base_sold), BigInt(preview.supply)) * 100).toFixed(1)} %`,
      `${Number((point.fee_bps / 100).toFixed(2))} %`,
      shortly(point.fees.quote.creator, digits),
      shortly(point.fees.quote.partner, digits),
      point.depth.up_2_percent === null ? null : shortly(point.depth.up_2_percent, digits),
    ]),
  }
}

const placeOf = ({ at, progress }: PreviewedPoint): string =>
  at === 'curve' ? `${Math.round(progress * 100)} %` : at === 'first_buy' ? 'buy' : at

/** Every figure of the points in raw units. */
export function pointRows({ points }: PoolPreview): Rows {
  const columns = [
    ...[
      'at',
      'progress',
      'amount',
      'paid',
      'quote_reserve',
      'base_sold',
      'sqrt_price',
      'price',
      'market_cap',
      'fee_bps',
    ],
    ...['creator_quote', 'partner_quote', 'protocol_quote', 'creator_base', 'partner_base', 'protocol_base'],
    ...['up_2_percent', 'up_10_percent', 'down_2_percent'],
  ]
  const rows = points.map(({ fees, depth, ...point }) => [
    ...[point.at, point.progress, point.amount, point.paid, point.quote_reserve, point.base_sold],
    ...[point.sqrt_price, point.price, point.market_cap, point.fee_bps],
    ...[fees.quote.creator, fees.quote.partner, fees.quote.protocol],
    ...[fees.base.creator, fees.base.partner, fees.base.protocol],
    ...[depth.up_2_percent, depth.up_10_percent, depth.down_2_percent],
  ])
  return { columns, rows }
}

/** What becomes of a full curve, and what a launch costs. */
export function closingLines(preview: PoolPreview): string[] {
  const { migration, cost, validation, decimals, quote_decimals: digits } = preview
  const unit = quoteName(preview)
  const inQuote = (raw: string) => `${shortly(raw, digits)} ${unit}`
  const inToken = (raw: string) => `${shortly(raw, decimals)} tokens`
  const lines: string[] = []
  if (migration !== null) {
    const { deposit, migration_fee: fee, protocol_fee: protocol, surplus } = migration
    lines.push(
      `Migrates at ${shortText(migration.price)} ${unit} a token, a market cap of ${inQuote(migration.market_cap)}`,
      `  pool       ${inQuote(deposit.quote)} and ${inToken(deposit.base)}`,
      `  Meteora    ${inQuote(protocol.quote)} and ${inToken(protocol.base)}`,
    )
    if (BigInt(fee.creator) + BigInt(fee.partner) > 0n) {
      lines.push(`  fee        creator ${inQuote(fee.creator)}, partner ${inQuote(fee.partner)}`)
    }
    lines.push(
      `  surplus    creator ${inQuote(surplus.creator)}, partner ${inQuote(surplus.partner)}, Meteora ${inQuote(surplus.protocol)}`,
      `  locked     ${inToken(migration.locked_base)} for the creator`,
      `  leftover   ${inToken(migration.leftover_base)}${migration.burned_base === '0' ? '' : `, burned ${inToken(migration.burned_base)}`}`,
      `  positions  partner ${shares(migration, 'partner')}, creator ${shares(migration, 'creator')}`,
    )
  }
  if (cost !== null) {
    const sol = (raw: string) => groupedDecimalOf(BigInt(raw), LAMPORT_DECIMALS)
    lines.push(
      `The launch takes ${sol(cost.total)} SOL from the creator`,
      ...(cost.text_byte_rent === '0'
        ? []
        : [
            `  with ${cost.text_bytes} bytes of name, symbol and URI; each other byte is ${solText(cost.text_byte_rent)}`,
          ]),
      `  rent ${sol(cost.rent)}, metadata ${sol(cost.metadata_fee)}, network ${sol(cost.network_fee)}, pool fee ${sol(cost.pool_creation_fee)}, first buy ${sol(cost.first_buy)}`,
    )
  }
  return [...lines, ...validationLines(validation)]
}

function shares({ positions, liquidity }: NonNullable<PoolPreview['migration']>, party: 'creator' | 'partner'): string {
  const whole = BigInt(liquidity)
  const percent = (part: string) => Number((ratioOf(BigInt(part), whole) * 100).toFixed(1))
  const { unlocked, locked, vested } = positions[party]
  return `${percent(unlocked)} % free, ${percent(locked)} % locked${vested === '0' ? '' : `, ${percent(vested)} % vested`}`
}

function validationLines({ status, by, reason }: PoolPreview['validation']): string[] {
  const where = by === 'node' ? 'at the RPC node' : 'in memory'
  const why = reason === null ? [] : [`  ${reason}`]
  if (status === 'accepted') return [`The program accepts this preset (run ${where}).`]
  if (status === 'refused') return [`The program REFUSES this preset (run ${where}):`, ...why]
  return ['The program could not be run; `svc localnet pull` fills the cache:', ...why]
}
