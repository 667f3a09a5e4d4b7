/** Fills the queue in parallel with the sending, because many subscribers and events take time. */
import type { Services } from '../../context.ts'
import { fanOut } from './fan-out.ts'
import { finishRemovals } from './removals.ts'
import { advanceReplays } from './replay.ts'

/** Time between two looks for new events while deliveries are in progress. */
const ENQUEUE_EVERY_MS = 100

export interface Enqueuing {
  /** Starts a pass unless one runs or the last one was just now. Throws the error of the last one. */
  begin(): void
  readonly isRunning: boolean
  /** Whether the last pass left replays that can continue at once. */
  readonly hasMore: boolean
  /** Resolves when the current pass has ended. */
  ended(): Promise<void>
}

export function createEnqueuing(
  services: Pick<Services, 'store' | 'clock' | 'log'>,
  signal: AbortSignal | undefined,
  ...signals: readonly AbortSignal[]
): Enqueuing {
  let running: Promise<void> | undefined
  let endedAt = Number.NEGATIVE_INFINITY
  let hasMore = false
  let failure: { error: unknown } | undefined

  async function pass(): Promise<void> {
    await fanOut(services, signal)
    hasMore = await advanceReplays(services, ...signals)
    await finishRemovals(services, ...signals)
  }

  return {
    begin() {
      if (failure !== undefined) throw failure.error
      if (running !== undefined || performance.now() - endedAt < ENQUEUE_EVERY_MS) return
      running = pass()
        .catch((error) => {
          failure = { error }
        })
        .finally(() => {
          running = undefined
          endedAt = hasMore ? Number.NEGATIVE_INFINITY : performance.now()
        })
    },
    get isRunning() {
      return running !== undefined
    },
    get hasMore() {
      return hasMore
    },
    async ended() {
      await running
    },
  }
}
