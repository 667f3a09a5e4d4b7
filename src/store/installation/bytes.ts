/** Sizes of the databases on disk. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema.ts'

/** Returns the size of a file in bytes, or 0 without a file. */
async function fileBytes(file: string): Promise<number> {
  const { stat } = await import('node:fs/promises')
  try {
    return (await stat(file)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

/** Returns the sizes of a SQLite file and its write-ahead log in bytes. */
export async function sqliteBytes(file: string): Promise<{ database: number; wal: number }> {
  const [database, wal] = await Promise.all([fileBytes(file), fileBytes(`${file}-wal`)])
  return { database, wal }
}

/** Returns the size of the connected PostgreSQL database in bytes. */
export async function postgresBytes(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db)
  return Number(rows[0]?.bytes ?? 0)
}
