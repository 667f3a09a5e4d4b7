/** `svc db status` and `svc db migrate`. */
import { toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { EXIT } from '../ui/problem.ts'
import type { DatabaseStatus } from './installation.ts'
import { sizeText } from './sizes.ts'

export const statusVerb = verb({
  about: 'Show the database: its place, schema and size, and what grows',
  details: 'Reads the database itself, also while a daemon runs, and changes nothing.',
  examples: ['svc db status', 'SVC_DATABASE_URL_FILE=/run/secrets/database-url svc db status -o json'],
  run: async (_, { database }: Session) => databaseOutcome(await database.status()),
})

function databaseOutcome(data: DatabaseStatus) {
  const { tables, pending, faults } = data
  const columns = ['table', 'rows', 'size', 'grows_with']
  const all = tables.map(({ table, rows, exact, bytes, grows_with }) => [
    table,
    exact ? rows : `~${rows}`,
    sizeText(bytes),
    grows_with,
  ])
  return {
    data,
    rows: {
      columns: ['table', 'rows', 'bytes', 'grows_with'],
      rows: tables.map(({ table, rows, bytes, grows_with }) => [table, rows, bytes, grows_with]),
    },
    ...(tables.length === 0 ? {} : { table: { columns, rows: all } }),
    text: fieldLines(summaryOf(data)).join('\n'),
    notes: [
      ...(pending.length === 0 ? [] : ['`svc db migrate` applies what is pending, and so does the next start.']),
      ...faults.map((fault) => `not as its migrations leave it: ${fault}`),
    ],
    exitCode: faults.length > 0 ? EXIT.failed : EXIT.done,
  }
}

function summaryOf({ database, place, exists, applied, pending, fingerprint, bytes, wal_bytes }: DatabaseStatus) {
  const where: [string, string][] = [
    ['DATABASE', database],
    ['PLACE', place],
  ]
  if (!exists) return [...where, ['STATE', 'made on first use']] as [string, string][]
  return [
    ...where,
    ['SCHEMA', applied.at(-1) ?? ''],
    ['PENDING', pending.length === 0 ? 'nothing' : pending.join(', ')],
    ['KEY', fingerprint === null ? 'none yet' : `fingerprint ${fingerprint}`],
    ['SIZE', sizeText(bytes)],
    ['WRITE-AHEAD LOG', wal_bytes === null ? "the server's" : sizeText(wal_bytes)],
  ] as [string, string][]
}

export const migrateVerb = verb({
  about: 'Apply pending migrations, after a copy of a SQLite database',
  details:
    'A migration that copies many rows works in steps; after an interruption, the same command or the next start continues it. Every start applies pending migrations too. The newest three copies are kept in the data folder. On PostgreSQL back up first: pg_dump --format=custom --file=FILE "$SVC_DATABASE_URL".',
  flags: {
    dry_run: toggle('Show what is pending and change nothing'),
    skip_copy: toggle('Make no copy, for a disk that has no room for it'),
  },
  examples: ['svc db migrate --dry-run', 'svc db migrate -o json'],
  async run({ dry_run, skip_copy }, { database, ui }: Session) {
    const { applied, pending, ...at } = await database.migrations()
    const columns = ['migration', 'state']
    const rows = pending.map((name) => [name, dry_run ? 'pending' : 'applied'])
    if (pending.length === 0 || dry_run) {
      return {
        data: { ...at, applied, pending, copy: null, dry_run },
        rows: { columns, rows },
        ...(pending.length === 0 ? { text: `Nothing is pending: the schema is ${applied.at(-1)}.` } : {}),
        exitCode: at.faults.length > 0 ? EXIT.failed : EXIT.done,
        notes: at.faults.map((fault) => `not as its migrations leave it: ${fault}`),
      }
    }
    await ui.preview([`Applying ${pending.length} migrations to ${at.place}: ${pending.join(', ')}`])
    const { copy } = await database.migrate(!skip_copy)
    return {
      data: { ...at, applied: [...applied, ...pending], pending: [], copy, dry_run },
      rows: { columns, rows },
      text: `Applied ${pending.length} migrations: the schema is ${pending.at(-1)}.`,
      notes:
        copy === null
          ? []
          : [`The database as it was before: ${copy}`, `To return to it: svc db restore ${copy} --force`],
    }
  },
})
