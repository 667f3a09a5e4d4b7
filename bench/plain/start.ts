/** Starts the straightforward application over a database of its own. */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { type ServerProcess, startServer } from '../fleet/server.ts'
import { fill } from './tables.ts'

export const PLAIN_APPLICATION = 'the same in plain hono, zod-openapi and better-sqlite3'

export interface PlainOptions {
  /** Requests a minute and a day of the key; null for a key without limits. */
  limit: number | null
  trees: number
  /** Whether the writes of one turn of the event loop share a commit. */
  isGrouped?: boolean
}

export interface PlainServer extends ServerProcess {
  bearer: string
  /** Ids of up to a thousand trees. */
  ids: string[]
}

export async function startPlain(
  folder: string,
  children: ChildProcess[],
  { limit, trees, isGrouped = false }: PlainOptions,
): Promise<PlainServer> {
  const file = join(folder, `plain-${children.length}.db`)
  const bearer = 'svc_live_of_the_bench'
  const ids = fill(file, bearer, limit, trees)
  const program = join(import.meta.dirname, 'server.ts')
  const args = ['--import', 'tsx', program, file, ...(isGrouped ? ['group'] : [])]
  return { ...(await startServer(args, folder, children)), bearer, ids }
}
