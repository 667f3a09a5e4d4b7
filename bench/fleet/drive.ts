/** Keeps HTTP requests under way against several servers, and tells how fast and how soon they were answered. */
import { performance } from 'node:perf_hooks'
import type { Pool } from 'undici'

export interface DrivenRequest {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

export interface Driven {
  answered: number
  /** Wall time of the whole run in milliseconds. */
  ms: number
  /** Milliseconds of each request, in ascending order. */
  latencies: number[]
}

/** Runs until `forMs` have passed, with `inFlight` requests per server. Throws at an answer of 400 or more. */
export async function drive(
  pools: readonly Pool[],
  { inFlight, forMs, next }: { inFlight: number; forMs: number; next: () => DrivenRequest },
): Promise<Driven> {
  const latencies: number[] = []
  const from = performance.now()
  const end = from + forMs
  const line = async (pool: Pool) => {
    while (performance.now() < end) {
      const sent = performance.now()
      await answered(pool, next())
      latencies.push(performance.now() - sent)
    }
  }
  await Promise.all(pools.flatMap((pool) => Array.from({ length: inFlight }, () => line(pool))))
  const ms = performance.now() - from
  return { answered: latencies.length, ms, latencies: latencies.toSorted((a, b) => a - b) }
}

/** Sends `count` requests, `inFlight` at a time. Throws at an answer of 400 or more. */
export async function driveCount(
  pool: Pool,
  { inFlight, count, next }: { inFlight: number; count: number; next: () => DrivenRequest },
): Promise<void> {
  let left = count
  const line = async () => {
    while (left-- > 0) await answered(pool, next())
  }
  await Promise.all(Array.from({ length: inFlight }, line))
}

async function answered(pool: Pool, request: DrivenRequest): Promise<void> {
  const { statusCode, body } = await pool.request(request)
  if (statusCode < 400) await body.dump()
  else throw new Error(`${request.method} ${request.path} was answered ${statusCode}: ${await body.text()}`)
}

/** The value below which a share of the sorted values lies; 0 of none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
