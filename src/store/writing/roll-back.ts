/** Runs a write and rolls it back: its result or error is real, but its changes are not kept. */
import type { Store, Tx } from '../store.ts'

/** Thrown to roll back the transaction; it is not an error. */
class RolledBack<T> {
  readonly value: T
  constructor(value: T) {
    this.value = value
  }
}

export async function runAndRollBack<T>(store: Pick<Store, 'write'>, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await store.write(async (tx): Promise<T> => {
      throw new RolledBack(await work(tx))
    })
  } catch (thrown) {
    if (thrown instanceof RolledBack) return thrown.value
    throw thrown
  }
}
