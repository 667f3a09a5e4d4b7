/** Previews a launch with a preset: its curve, its migration, its cost, and whether the program accepts it. */
import type { Api, PoolPreview } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  type CurvePoint,
  dbcPriceText,
  type LaunchCost,
  type OwnedLiquidity,
  previewCurve,
} from '../../chain/programs/dbc/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import { platformWallet } from '../platform-wallet.ts'
import { rehearseLaunch, validatePreset } from './preset-rehearsals.ts'
import { requireCurve } from './presets.ts'

type PreviewPresetRoute = Api['pools']['preview']

const BILLIONTHS_PER_BPS = 100_000
const PROGRESS_STEPS = 1_000_000_000n

export async function previewPreset(
  context: Context,
  { name, buy, points, after }: Input<PreviewPresetRoute>,
): Promise<Result<PreviewPresetRoute>> {
  const named = await requireCurve(context.config, name)
  const { quoteMint, quoteDecimals } = named.curve
  const buyRaw = rawQuote(buy, quoteDecimals)
  const { decimals } = named.preset
  const preview = await previewCurve(named.curve, { buy: buyRaw, points, seconds: after })
  const rehearsed = await rehearseLaunch(context, named, buyRaw)
  const terms: PriceTerms = { supply: preview.supply, decimals, quoteDecimals }
  return {
    preset: name,
    quote_mint: quoteMint,
    quote_decimals: quoteDecimals,
    decimals,
    supply: String(preview.supply),
    threshold: String(preview.threshold),
    buy: String(buyRaw),
    after_seconds: after,
    points: preview.points.map((point) => pointRecord(point, preview.threshold, terms)),
    migration: preview.migration === null ? null : migrationRecord(preview.migration, terms),
    cost: rehearsed?.cost ? costRecord(rehearsed.cost) : null,
    validation: await validatePreset(context, named, await platformWallet(context).catch(() => null)),
  }
}

interface PriceTerms {
  supply: bigint
  decimals: number
  quoteDecimals: number
}

/** Throws bad_request naming `buy` for more digits than the quote has. */
function rawQuote(text: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  if (fraction.length > decimals) {
    throw badRequest(`buy has more than the ${decimals} fractional digits of the quote`, { param: 'buy' })
  }
  const raw = BigInt(whole + fraction.padEnd(decimals, '0'))
  if (raw > MAX_U64) throw badRequest('buy is more than fits in 64 bits', { param: 'buy' })
  return raw
}

const priced = (sqrtPrice: bigint, { supply, decimals, quoteDecimals }: PriceTerms) => ({
  sqrt_price: String(sqrtPrice),
  price: dbcPriceText(sqrtPrice, decimals, quoteDecimals),
  market_cap: String((sqrtPrice * sqrtPrice * supply) >> 128n),
})

function pointRecord(point: CurvePoint, threshold: bigint, terms: PriceTerms): PoolPreview['points'][number] {
  const { at, quoteReserve, depth } = point
  const reached = quoteReserve < threshold ? (quoteReserve * PROGRESS_STEPS) / threshold : PROGRESS_STEPS
  return {
    at,
    amount: String(point.amount),
    paid: String(point.paid),
    quote_reserve: String(quoteReserve),
    progress: Number(reached) / Number(PROGRESS_STEPS),
    base_sold: String(point.baseSold),
    ...priced(point.sqrtPrice, terms),
    fee_bps: point.feeBillionths / BILLIONTHS_PER_BPS,
    fees: { quote: digitsOf(point.quoteFees), base: digitsOf(point.baseFees) },
    depth: {
      up_2_percent: orNull(depth.up2),
      up_10_percent: orNull(depth.up10),
      down_2_percent: orNull(depth.down2),
    },
  }
}

const orNull = (amount: bigint | null) => (amount === null ? null : String(amount))

function digitsOf<K extends string>(amounts: Readonly<Record<K, bigint>>): Record<K, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)])) as Record<
    K,
    string
  >
}

type Migration = NonNullable<Awaited<ReturnType<typeof previewCurve>>['migration']>

function migrationRecord(migration: Migration, terms: PriceTerms): NonNullable<PoolPreview['migration']> {
  const owned = ({ unlocked, locked, vested }: OwnedLiquidity) => digitsOf({ unlocked, locked, vested })
  return {
    ...priced(migration.sqrtPrice, terms),
    deposit: digitsOf(migration.deposit),
    liquidity: String(migration.liquidity),
    positions: { creator: owned(migration.creator), partner: owned(migration.partner) },
    protocol_fee: digitsOf(migration.protocolFee),
    migration_fee: digitsOf(migration.migrationFee),
    surplus: digitsOf(migration.surplus),
    locked_base: String(migration.lockedBase),
    burned_base: String(migration.burnedBase),
    leftover_base: String(migration.leftoverBase),
  }
}

const costRecord = ({ version, transactions, ...cost }: LaunchCost): NonNullable<PoolPreview['cost']> => ({
  total: String(cost.total),
  rent: String(cost.rent),
  text_bytes: cost.textBytes,
  text_byte_rent: String(cost.textByteRent),
  metadata_fee: String(cost.metadataFee),
  pool_creation_fee: String(cost.poolCreationFee),
  network_fee: String(cost.networkFee),
  first_buy: String(cost.firstBuy),
  transactions,
  tx_version: version,
})
