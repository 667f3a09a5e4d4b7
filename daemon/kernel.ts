/** What the request pipeline needs of the process: the services, the rate limiter and this process's name. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Services } from '../src/context.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { type BodyRoom, createBodyRoom } from './pipeline/body-room.ts'
import { createRateLimiter, type RateLimiter } from './pipeline/rate-limit.ts'

export interface Kernel extends Services {
  limiter: RateLimiter
  bodies: BodyRoom
  metrics: Metrics
  /** `host/pid/nonce`, and a name for each of its claims behind it: so that a dead process can be told from a busy one. */
  owner: string
}

export async function createKernel(services: Services, metrics: Metrics = createMetrics()): Promise<Kernel> {
  const limiter = await createRateLimiter(services)
  return { ...services, limiter, bodies: createBodyRoom(), metrics, owner: newOwner() }
}

/** Another name for this process, that no other process has had. */
export function newOwner(): string {
  const owner = `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`
  owners.add(owner)
  return owner
}

/** Every name that this process goes by: another one with its id is of a process that had the id before. */
const owners = new Set<string>()

/** Whether the process of that name is known to be gone: same host, and no such pid or only this process has it now. */
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
