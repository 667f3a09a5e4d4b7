/** A write that is tried and taken back: what it throws and answers is real, what it wrote is gone. */
import type { Store, Tx } from './store.ts'

/** Ends the transaction without being an error of anybody's. */
class Rehearsed<T> {
  readonly value: T
  constructor(value: T) {
    this.value = value
  }
}

export async function rehearse<T>(store: Pick<Store, 'write'>, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await store.write(async (tx): Promise<T> => {
      throw new Rehearsed(await work(tx))
    })
  } catch (thrown) {
    if (thrown instanceof Rehearsed) return thrown.value
    throw thrown
  }
}
