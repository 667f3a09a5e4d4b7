/** Chooses among healthy endpoints: by weight, but the same one for requests that belong together. */
import type { PoolEndpoint } from './endpoint.ts'

/** Lowest share of its weight that a slow, failing or slightly late endpoint keeps. */
const LEAST_FACTOR = 1 / 8
/** Slots of lag that do not matter. */
const COMMON_LAG = 4

/**
 * Returns the endpoints in the order in which they are tried. Weighted rendezvous hashing: requests with one key go to
 * one endpoint while it is healthy, because reads from two banks do not fit together. Many keys are spread by weight.
 */
export function inOrder(endpoints: readonly PoolEndpoint[], key: string): PoolEndpoint[] {
  const fastest = Math.min(...endpoints.map(({ latencyMs }) => latencyMs ?? Number.POSITIVE_INFINITY))
  return endpoints
    .map((endpoint) => ({
      endpoint,
      score: -Math.log(unitHash(`${key} ${endpoint.label}`)) / shareOf(endpoint, fastest),
    }))
    .sort((a, b) => a.score - b.score)
    .map(({ endpoint }) => endpoint)
}

/** The weight reduced by poor health, in halves, so that the order does not change with every answer. */
export function shareOf({ weight, latencyMs, errorRate, slotLag }: PoolEndpoint, fastest: number): number {
  const slowness = latencyMs === null ? 1 : latencyMs / Math.max(fastest, 25)
  const lag = (slotLag ?? 0) / COMMON_LAG
  return weight * halves(2 / Math.max(slowness, 2)) * halves(1 / Math.max(lag, 1)) * halves(1 - errorRate)
}

const halves = (factor: number) => 2 ** Math.ceil(Math.log2(Math.max(factor, LEAST_FACTOR)) - 1e-9)

/**
 * Hashes a text to a number between 0 and 1 (FNV-1a with the finalizer of MurmurHash3); it need not be hard to guess.
 */
function unitHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32 + 2 ** -33
}
