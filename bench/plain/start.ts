/** Starts the straightforward application with its own database. */
import { join } from 'node:path'
import type { ServerProcess, Servers } from '../http/server.ts'

export const PLAIN_APPLICATION = 'plain hono, zod-openapi and better-sqlite3'
export const PLAIN_GROUP_COMMIT = `${PLAIN_APPLICATION}, group commit`

/** With so many trees, a limit a minute and a day for its key or none, and a commit for each write or for groups. */
export function startPlain(
  { folder, start }: Servers,
  { trees = 0, limit = 0, isGrouped = false },
): Promise<ServerProcess> {
  const file = join(folder, `plain-${isGrouped}-${trees}.db`)
  const args = [file, String(trees), String(limit), isGrouped ? 'group' : '']
  return start(['--import', 'tsx', join(import.meta.dirname, 'server.ts'), ...args])
}

export const PLAIN_TOKEN = 'svc_live_of_the_bench'
/** The id of the n-th tree. */
export const plainTreeId = (n: number): string => String(n).padStart(46, '0')
