/** Asks PostgreSQL whether the connection is encrypted. */
import { sql } from 'kysely'
import type { Reader } from '../store.ts'

/** Returns the TLS version of a connection, such as `TLSv1.3`; null if it has no TLS. */
export async function tlsVersion(reader: Reader): Promise<string | null> {
  const { rows } = await sql<{ version: string | null }>`
    select case when ssl then version end as version from pg_stat_ssl where pid = pg_backend_pid()`.execute(reader)
  return rows[0]?.version ?? null
}
