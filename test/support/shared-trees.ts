/** One worker thread that builds the trees of all services of a test process: its start takes longer than most trees. */
import { createTreePool, type TreePool } from '../../src/merkle/pool.ts'

let shared: TreePool | undefined

/** The pool, of which a service changes only its own copy and which no service closes. */
export function sharedTrees(): TreePool {
  shared ??= createTreePool()
  const pool = shared
  return Object.assign(Object.create(pool) as TreePool, {
    buildFromRequest: pool.buildFromRequest.bind(pool),
    buildFromCsv: pool.buildFromCsv.bind(pool),
    buildAllowlist: pool.buildAllowlist.bind(pool),
    close: async () => undefined,
  })
}
