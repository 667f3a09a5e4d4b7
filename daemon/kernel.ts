/** What the request pipeline needs from the process: the services, the rate limiter and the owner name of this process. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Services } from '../src/context.ts'
import { databaseVersionOf, UnchangedReads } from '../src/store/sqlite/unchanged-reads.ts'
import { createHttpMetrics } from './metrics/http.ts'
import type { Metrics } from './metrics.ts'
import type { KnownKey } from './pipeline/bearer.ts'
import { type BodyRoom, createBodyRoom } from './pipeline/body-room.ts'
import { createRateLimiter, type RateLimiter } from './pipeline/rate-limit.ts'
import type { StoredText } from './pipeline/read.ts'
import type { AccessLog } from './pipeline/request-record.ts'

/** API keys that are remembered. */
const MOST_KEYS = 10_000
/** Characters of answers that are remembered: some hundred pages, in a few megabytes. */
const LARGEST_ANSWERS = 4 * 1024 * 1024

export interface Kernel extends Services {
  limiter: RateLimiter
  /** API keys by SHA-256 as they are; undefined where the database is a server, whose changes are not seen for free. */
  keys: UnchangedReads<KnownKey> | undefined
  /** Answers that hold until the database changes, by path and query; undefined like `keys`. */
  answers: UnchangedReads<StoredText> | undefined
  bodies: BodyRoom
  metrics: Pick<Metrics, 'http'>
  /** Writes the line of an answered request; undefined where none is written. */
  access: AccessLog | undefined
  /**
   * `host/pid/nonce`, to which each claim adds its own name. It lets other processes see whether the owner is still
   * alive.
   */
  owner: string
}

export interface KernelOptions {
  metrics?: Pick<Metrics, 'http'> | undefined
  access?: AccessLog | undefined
}

export async function createKernel(
  services: Services,
  { metrics = { http: createHttpMetrics() }, access }: KernelOptions = {},
): Promise<Kernel> {
  const limiter = await createRateLimiter(services)
  const version = databaseVersionOf(services.store.db)
  const keys = version && new UnchangedReads<KnownKey>(version, MOST_KEYS)
  const answers = version && new UnchangedReads<StoredText>(version, LARGEST_ANSWERS)
  return { ...services, limiter, keys, answers, bodies: createBodyRoom(), metrics, access, owner: newOwner() }
}

/** Returns a new owner name for this process, which no other process has used. */
export function newOwner(): string {
  const owner = `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`
  owners.add(owner)
  return owner
}

/** Every owner name of this process. Another name with the same pid belongs to an earlier process that had this pid. */
const owners = new Set<string>()

/** Whether the owner is another process of this host, and no longer there. */
export const isGoneOwner = (owner: string): boolean => Number(owner.split('/')[1]) !== process.pid && isDeadOwner(owner)

/** Whether the owner is known to have ended: it ran on this host, and its pid is free or has passed to this process. */
export function isDeadOwner(owner: string): boolean {
  const [host, pid, nonce] = owner.split('/')
  if (host !== hostname()) return false
  if (Number(pid) === process.pid) return !owners.has(`${host}/${pid}/${nonce}`)
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
