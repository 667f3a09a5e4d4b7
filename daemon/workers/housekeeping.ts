/** Forgets what is past its time: expired Idempotency-Keys. Hourly, and once at the start. */
import { schedule } from 'node-cron'
import type { Services } from '../../src/context.ts'
import { pruneIdempotencyKeys } from '../../src/store/idempotency.ts'

export interface Housekeeping {
  stop(): Promise<void>
}

export function startHousekeeping({ store, clock, log }: Services): Housekeeping {
  let running: Promise<void> = Promise.resolve()
  const tidy = () => {
    running = store
      .write((tx) => pruneIdempotencyKeys(tx, clock.now()))
      .then((count) => log.debug({ count }, 'expired idempotency keys forgotten'))
      .catch((error) => log.error({ err: error }, 'housekeeping failed'))
    return running
  }
  const task = schedule('17 * * * *', tidy)
  void tidy()
  return {
    async stop() {
      await task.destroy()
      await running
    },
  }
}
