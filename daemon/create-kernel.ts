/** Creates the kernel of the request pipeline from the services of a process. */
import type { Services } from '../src/context.ts'
import { lookAtDatabaseOf, UnchangedReads } from '../src/store/sqlite/unchanged-reads.ts'
import type { Kernel, KernelOptions } from './kernel.ts'
import { createHttpMetrics } from './metrics/http.ts'
import { newOwner } from './owners.ts'
import { createBodyRoom } from './pipeline/body-room.ts'
import { KeyUses } from './pipeline/key-uses.ts'
import { createRateLimiter } from './pipeline/rate-limit.ts'

/** The most API keys in memory. */
const MOST_KEYS = 10_000
/** The most characters of answers in memory: some hundred pages, a few megabytes. */
const LARGEST_ANSWERS = 4 * 1024 * 1024

export async function createKernel(
  services: Services,
  { metrics = { http: createHttpMetrics() }, access, localRpc }: KernelOptions = {},
): Promise<Kernel> {
  const look = lookAtDatabaseOf(services.store.db)
  return {
    ...services,
    limiter: await createRateLimiter(services),
    look,
    keys: new UnchangedReads(look, MOST_KEYS),
    uses: new KeyUses(services),
    answers: new UnchangedReads(look, LARGEST_ANSWERS),
    bodies: createBodyRoom(),
    metrics,
    access,
    localRpc,
    owner: newOwner(),
  }
}
