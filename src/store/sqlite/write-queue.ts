/** Group commit: concurrent writes are committed together and resolve after that commit. */
import type { Tx } from '../store.ts'

export type Work = (tx: Tx) => Promise<unknown>
export type WriteOutcome = { value: unknown } | { error: unknown }

/** Maximum works of one commit; more would save little and block the event loop longer. */
const GROUP_SIZE = 256

interface Queued {
  work: Work
  committed: (() => void) | undefined
  resolve(value: never): void
  reject(error: unknown): void
}

interface WriteQueue {
  /**
   * `committed` is called once the work is durable, before the promise resolves; an error that it throws rejects that
   * promise alone.
   */
  add<T>(work: (tx: Tx) => Promise<T>, committed?: () => void): Promise<T>
  /** Resolves when nothing is queued or running. */
  drain(): Promise<void>
}

/**
 * Creates the queue. `commit` runs a group in one transaction and returns each work's outcome once it is durable. If it
 * throws, the whole group fails. Works that arrive meanwhile form the next group.
 */
export function createWriteQueue(commit: (works: readonly Work[]) => Promise<readonly WriteOutcome[]>): WriteQueue {
  let queue: Queued[] = []
  let flushing = false
  let drained: (() => void)[] = []

  function schedule(): void {
    if (flushing) return
    flushing = true
    setImmediate(() => void flush())
  }

  async function flush(): Promise<void> {
    const group = queue.slice(0, GROUP_SIZE)
    queue = queue.slice(GROUP_SIZE)
    let outcomes: readonly WriteOutcome[]
    try {
      outcomes = await commit(group.map(({ work }) => work))
    } catch (error) {
      outcomes = group.map(() => ({ error }))
    }
    for (const [index, queued] of group.entries()) {
      settle(queued, outcomes[index] ?? { error: new Error(`the commit returned no outcome for its work ${index}`) })
    }
    flushing = false
    if (queue.length > 0) return schedule()
    for (const done of drained) done()
    drained = []
  }

  return {
    add: (work, committed) =>
      new Promise((resolve, reject) => {
        queue.push({ work, committed, resolve, reject })
        schedule()
      }),
    drain: () => (flushing ? new Promise((resolve) => void drained.push(resolve)) : Promise.resolve()),
  }
}

function settle({ committed, resolve, reject }: Queued, outcome: WriteOutcome): void {
  if ('error' in outcome) {
    reject(outcome.error)
    return
  }
  try {
    committed?.()
  } catch (error) {
    // Its work is stored all the same. The other works must not wait for it.
    reject(error)
    return
  }
  resolve(outcome.value as never)
}
