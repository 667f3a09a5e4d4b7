/**
 * Lists what changes or hides rows of a PostgreSQL database and was not made by a migration. Views of extensions are
 * left out.
 */
import { sql } from 'kysely'
import { addition, type SchemaAddition } from '../migrations/dialect.ts'
import type { Reader } from '../store.ts'

/** Event triggers are left out, because only a superuser can create one, and hosts have their own. */
export async function postgresAdditions(db: Reader): Promise<string[]> {
  const { rows } = await sql<SchemaAddition>`
    with own as (
      select c.oid, c.relname, c.relkind, c.relrowsecurity from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = current_schema() and not (c.relkind in ('v', 'm') and exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
      ))
    ), -- What calls a function or an operator; those of PostgreSQL itself have no dependencies.
    calls as (
      select classid, objid from pg_depend where refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass)
    )
    select 'trigger' as type, t.tgname::text as name, own.relname::text as "on"
    from pg_trigger t join own on own.oid = t.tgrelid where not t.tgisinternal
    union select 'view', relname::text, relname::text from own where relkind in ('v', 'm')
    union select 'rule', r.rulename::text, own.relname::text
    from pg_rewrite r join own on own.oid = r.ev_class where r.rulename <> '_RETURN'
    union select 'policy', p.polname::text, own.relname::text from pg_policy p join own on own.oid = p.polrelid
    union select 'row security', relname::text, relname::text from own where relrowsecurity
    union select 'default', a.attname::text, own.relname::text
    from pg_attrdef d join own on own.oid = d.adrelid
    join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
    join calls on calls.classid = 'pg_attrdef'::regclass and calls.objid = d.oid
    union select 'constraint', c.conname::text, own.relname::text
    from pg_constraint c join own on own.oid = c.conrelid
    join calls on calls.classid = 'pg_constraint'::regclass and calls.objid = c.oid
    union select 'index', i.indexrelid::regclass::text, own.relname::text
    from pg_index i join own on own.oid = i.indrelid
    join calls on calls.classid = 'pg_class'::regclass and calls.objid = i.indexrelid
    order by 2, 1`.execute(db)
  return rows.map(addition)
}
