/** Caches the lists of claim pages with their indexes in memory up to a limit, and builds them between other work. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bucketSteps, type WalletBuckets } from '../../claim-page/site/wallet-buckets.ts'
import type { Context } from '../../context.ts'
import { canonicalRows } from '../../merkle/entry-list.ts'
import { readStoredList } from '../../merkle/stored-tree.ts'
import { Overloaded } from '../../platform/errors.ts'
import type { Row } from '../../store/schema.ts'
import { withRow } from '../merkle-trees/open-tree.ts'

export interface PageList {
  index: WalletBuckets
  /** The canonical list. Its SHA-256 is the tree's `list_sha256`. */
  rows: Uint8Array<ArrayBuffer>
}

/** Bytes of all cached lists: about twenty of 50,000 wallets. */
const MOST_BYTES = 64 * 1024 * 1024
/** Lists that may wait to be read. Later requests are asked to try again. */
const MOST_WAITING = 16
/** Chunks that are read and hashed before other work has its turn, about two milliseconds. */
const CHUNKS_PER_TURN = 4

export class PageLists {
  readonly #kept = new Map<string, PageList>()
  readonly #reading = new Map<string, Promise<PageList>>()
  #last: Promise<unknown> = Promise.resolve()
  #bytes = 0

  /** Whether the list is cached or being read already, so that one more visitor costs nothing. */
  isAtHand(row: Row<'merkle_trees'>): boolean {
    const key = keyOf(row)
    return this.#kept.has(key) || this.#reading.has(key)
  }

  /** Throws Overloaded when too many lists wait. */
  async read(context: Pick<Context, 'store'>, row: Row<'merkle_trees'>): Promise<PageList> {
    const key = keyOf(row)
    const kept = this.#kept.get(key)
    if (kept !== undefined) {
      // The list that was read last moves to the end and is removed last.
      this.#kept.delete(key)
      this.#kept.set(key, kept)
      return kept
    }
    const running = this.#reading.get(key)
    if (running !== undefined) return running
    if (this.#reading.size >= MOST_WAITING) throw new Overloaded('Too many lists are being read: try again', 1)
    // Lists are read one at a time, so that many visitors of many pages need the memory of one list.
    const reading = this.#last.then(() => readList(context, row))
    this.#last = reading.catch(() => undefined)
    this.#reading.set(key, reading)
    try {
      const list = await reading
      this.#keep(key, list)
      return list
    } finally {
      this.#reading.delete(key)
    }
  }

  #keep(key: string, list: PageList): void {
    this.#kept.set(key, list)
    this.#bytes += bytesOfList(list)
    for (const [oldest, old] of this.#kept) {
      if (this.#bytes <= MOST_BYTES || oldest === key) break
      this.#kept.delete(oldest)
      this.#bytes -= bytesOfList(old)
    }
  }
}

const keyOf = ({ id, root }: Row<'merkle_trees'>): string => `${id}:${root}`

const bytesOfList = ({ index, rows }: PageList): number =>
  rows.length + index.entries.length + index.starts.byteLength + 2 * (index.levels[0]?.length ?? 0)

function readList(context: Pick<Context, 'store'>, row: Row<'merkle_trees'>): Promise<PageList> {
  return withRow(context, row, async ({ head, read }) => {
    const list = await readStoredList(head, read, (n) =>
      n % CHUNKS_PER_TURN === CHUNKS_PER_TURN - 1 ? nextTurn() : undefined,
    )
    const steps = bucketSteps([list])
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return { index: step.value, rows: new Uint8Array(canonicalRows(list, 0, list.count)) }
      await nextTurn()
    }
  })
}
