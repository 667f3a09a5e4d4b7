/** Fills the queue in parallel with the sending, because many subscriptions and events take time. */
import type { Services } from '../../context.ts'
import { fanOut } from './fan-out.ts'
import { newLook, releaseFinal } from './finality.ts'
import { finishRemovals } from './removals.ts'
import { advanceReplays } from './replay.ts'

/** Time between two checks for new events while deliveries are in progress. */
const ENQUEUE_EVERY_MS = 100
/** Time between two checks while events remain for receivers that may have caught up. */
const REFILL_EVERY_MS = 50

export interface Enqueuing {
  /** Starts a pass unless one runs or, without `atOnce`, the last one is recent. Throws the error of the last pass. */
  begin(options?: { atOnce?: boolean }): void
  /** Number of passes that have started. */
  readonly begun: number
  /** Reports new events. The next pass that `begin` starts looks for them. */
  expect(): void
  /** Whether there are new events that no completed pass has looked for. */
  readonly isExpected: boolean
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
  let pauseMs = ENQUEUE_EVERY_MS
  /** Reports of new events, and how many of them a pass has handled. */
  let [expected, found] = [0, 0]
  let failure: { error: unknown } | undefined
  let begun = 0
  let look = newLook()

  async function pass(): Promise<void> {
    pauseMs = (await fanOut(services, signal)) ? REFILL_EVERY_MS : ENQUEUE_EVERY_MS
    hasMore = await advanceReplays(services, ...signals)
    look = await releaseFinal(services, look, ...signals)
    if (look.after > 0 && !signals.some(({ aborted }) => aborted)) hasMore = true
    await finishRemovals(services, ...signals)
  }

  return {
    begin({ atOnce = false } = {}) {
      if (failure !== undefined) throw failure.error
      if (running !== undefined || (!atOnce && performance.now() - endedAt < pauseMs)) return
      begun++
      // Events reported during the pass may be after the place where it has looked.
      const expectedAtStart = expected
      running = pass()
        .catch((error) => {
          failure = { error }
        })
        .finally(() => {
          running = undefined
          found = expectedAtStart
          endedAt = hasMore ? Number.NEGATIVE_INFINITY : performance.now()
        })
    },
    expect() {
      expected++
    },
    get begun() {
      return begun
    },
    get isExpected() {
      return expected > found
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
