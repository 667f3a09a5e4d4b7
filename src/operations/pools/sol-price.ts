/** The price of SOL in US dollars, from the configured source, asked for at most twice a minute. */
import type { Config } from '../../config.ts'
import type { Services } from '../../context.ts'

const TIMEOUT_MS = 5_000
const FRESH_MS = 30_000
/** Older than this and the price is not told at all. */
const STALE_MS = 600_000

const known = new WeakMap<Config, { price: number; at: number }>()

/** Null where no source is set, and where it has given no price for ten minutes: a figure that nobody knows is left out. */
export async function solPrice({
  config,
  clock,
  log,
}: Pick<Services, 'config' | 'clock' | 'log'>): Promise<number | null> {
  const { 'price-url': url, 'price-field': field } = config.values
  if (url === undefined) return null
  const last = known.get(config)
  const now = clock.now()
  if (last !== undefined && now - last.at < FRESH_MS) return last.price
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!response.ok) throw new Error(`the price source answered HTTP ${response.status}`)
    const price = priceIn(await response.json(), field)
    known.set(config, { price, at: now })
    return price
  } catch (error) {
    const { name, message } = error as Error
    log.warn({ fault: name === 'TypeError' ? 'it cannot be reached' : message }, 'the price of SOL was not read')
    return last !== undefined && now - last.at < STALE_MS ? last.price : null
  }
}

/** A number, or one as text, at the dotted path. Throws where there is none. */
function priceIn(document: unknown, field: string): number {
  let value = document
  for (const name of field.split('.')) {
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  }
  const price = typeof value === 'string' ? Number(value) : value
  if (typeof price !== 'number' || !Number.isFinite(price) || price <= 0) {
    throw new Error(`the price source has no price at ${field}`)
  }
  return price
}
