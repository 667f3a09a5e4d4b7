/** Reads the price of SOL in US dollars from the configured source, at most twice a minute. */
import type { Services } from '../../context.ts'
import { endpointOf, observeCall, outcomeOfStatus } from '../../platform/telemetry/calls.ts'
import { withTimeout } from '../../platform/timing.ts'
import type { Config } from '../../settings/config.ts'

const PRICE_TIMEOUT_MS = 5_000
const PRICE_FRESH_MS = 30_000
/** Age from which a price is no longer returned. */
const PRICE_STALE_MS = 600_000
const MOST_CHARACTERS = 1_000_000

interface Source {
  /** Time of the last request in Unix milliseconds. */
  askedAt: number
  asking: Promise<void>
  /** Last price of the source, or null before the first; `at` is its time. */
  price: number | null
  at: number
}

const sources = new WeakMap<Config, Source>()

/** Returns null when no source is set, and when it has reported no price for ten minutes. */
export async function solPrice({
  config,
  clock,
  log,
  ending,
}: Pick<Services, 'config' | 'clock' | 'log' | 'ending'>): Promise<number | null> {
  const { 'price-url': url, 'price-field': field } = config.values
  if (url === undefined) return null
  const source = sources.get(config) ?? { askedAt: 0, asking: Promise.resolve(), price: null, at: 0 }
  sources.set(config, source)
  const now = clock.now()
  // The clock may have been set back since the last request.
  if (Math.abs(now - source.askedAt) >= PRICE_FRESH_MS) {
    source.askedAt = now
    source.asking = fetchPrice(url, field, ending).then(
      (price) => void Object.assign(source, { price, at: now }),
      (error: Error) => {
        const fault = error.name === 'TypeError' ? 'it cannot be reached' : error.message
        log.warn({ fault }, 'the price of SOL was not read')
      },
    )
  }
  await source.asking
  return Math.abs(now - source.at) < PRICE_STALE_MS ? source.price : null
}

async function fetchPrice(url: string, field: string, ending: AbortSignal): Promise<number> {
  const target = { service: 'price', endpoint: endpointOf(url), operation: 'read' } as const
  const read = (headers: Record<string, string>) =>
    withTimeout(PRICE_TIMEOUT_MS, ending, async (signal) => {
      const response = await fetch(url, { signal, headers })
      return { status: response.status, text: response.ok ? await response.text() : '' }
    })
  const { status, text } = await observeCall(target, read, (answer) => outcomeOfStatus(answer.status))
  if (status < 200 || status > 299) throw new Error(`the price source answered HTTP ${status}`)
  if (text.length > MOST_CHARACTERS) throw new Error('the answer of the price source is too large')
  return priceIn(parsePrice(text), field)
}

/** Parses the answer. The error of JSON.parse is replaced, because it would quote the answer. */
function parsePrice(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('the answer of the price source is not JSON')
  }
}

/** Returns the number at the dotted path, which may be a text. Throws when there is none. */
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
