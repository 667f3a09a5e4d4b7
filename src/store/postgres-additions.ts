/** Triggers, views and rules of a PostgreSQL database, as phrases; no migration makes one. Those of extensions do not count. */
import { sql } from 'kysely'
import { addition, type SchemaAddition } from './migrations/dialect.ts'
import type { Reader } from './store.ts'

export async function postgresAdditions(db: Reader): Promise<string[]> {
  const { rows } = await sql<SchemaAddition>`
    with own as (
      select c.oid, c.relname, c.relkind from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = current_schema()
        and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    )
    select 'trigger' as type, t.tgname::text as name, own.relname::text as "on"
    from pg_trigger t join own on own.oid = t.tgrelid where not t.tgisinternal
    union all select 'view', relname::text, relname::text from own where relkind in ('v', 'm')
    union all select 'rule', r.rulename::text, own.relname::text
    from pg_rewrite r join own on own.oid = r.ev_class where r.rulename <> '_RETURN'
    order by 2`.execute(db)
  return rows.map(addition)
}
