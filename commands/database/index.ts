/** `svc db`: the database of this installation – its backups, its moves between databases, its schema and its size. */
import { listOf, type Noun, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import {
  type BackupFacts,
  type BackupReport,
  type BackupRequest,
  type DatabaseStatus,
  type InstallationPart,
  PART_NAMES,
  type RestoreReport,
  type TransferReport,
} from './installation.ts'

// Sizes as people read them.

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** A number of bytes with a unit: `740 bytes`, `1.2 MiB`. */
function sizeText(bytes: number): string {
  let [size, unit] = [bytes, 0]
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024
    unit++
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`
}

// `svc db backup` and `svc db restore`.

const backupVerb = verb({
  about: 'Back up the installation, while the daemon runs (SQLite)',
  details:
    'The copy is a snapshot: it has every write that was answered before. On a terminal svc asks one question; Enter makes one file with everything, sealed by a passphrase. Scripts get the same with --passphrase-file. Otherwise the backup is a folder with only the database, and what --include names: encryption-key (opens what is encrypted), operator-key, assets, chain, profiles, wallets, or all. signer-key, the key of the platform wallet, is copied only into a sealed backup.',
  args: { file: text('File or folder to make (0600, 0700); svc-backup-DATE if left out') },
  flags: {
    include: listOf(`Parts beside the database: ${PART_NAMES.join(', ')}, or all`, { placeholder: 'PART,…' }),
    passphrase_file: text('Seal the backup with the passphrase in this file (0600)', { placeholder: 'FILE' }),
    force: toggle('Replace an earlier backup of that name'),
  },
  examples: [
    'svc db backup',
    'svc db backup /mnt/backups/svc --passphrase-file ~/backup-passphrase --force',
    'svc db backup backup-monday --include encryption-key,operator-key,assets',
    'svc db backup /mnt/backups/svc --include all --force -o json',
  ],
  async run(input, { database, ui, clock }: Session) {
    const { include, passphrase_file: passphraseFile, force } = input
    const file = input.file ?? `svc-backup-${new Date(clock.now()).toISOString().slice(0, 10)}`
    const parts = await database.parts({ file, force })
    const chosen =
      include === undefined && passphraseFile === undefined && ui.interactive
        ? await askFor(file, parts, ui)
        : namedParts(include, passphraseFile, parts)
    const request: BackupRequest = { file, force, ...chosen }
    await ui.preview([
      `Backing up the database and ${chosen.include.length === 0 ? 'nothing else' : chosen.include.join(', ')} to ${file}.`,
    ])
    const data = await database.backup(request, ui.progress('Copying'))
    ui.clear()
    const left = parts.filter(({ name, path }) => path !== null && !data.included.includes(name))
    return {
      data: { ...data, left_out: left.map(({ name }) => name) },
      text: `Backed up to ${data.path}: ${data.files === 1 ? '1 file' : `${data.files} files`}, ${sizeText(data.bytes)}${data.sealed ? ', sealed' : ''}.`,
      notes: [
        ...chosen.include
          .filter((name) => !data.included.includes(name))
          .map((name) => `There is no ${name} here yet.`),
        ...left.map(({ name, without }) => `Without ${name}: ${without}`),
        ...parts.flatMap(({ elsewhere }) => (elsewhere === null ? [] : [`Not in this backup: ${elsewhere}`])),
        ...keyNotes(data, parts),
        `Restore: svc db restore ${file} --data-dir FOLDER`,
      ],
    }
  },
})

type Chosen = Pick<BackupRequest, 'include' | 'seal'>

const isThere = ({ path, isSetting }: InstallationPart) => path !== null || isSetting
const namesOf = (parts: readonly InstallationPart[]) => parts.map(({ name }) => name)
/** What a folder in clear has: a copy of the key that moves money is only ever encrypted. */
const inClear = (parts: readonly InstallationPart[]) =>
  parts.filter(({ name, path }) => path !== null && name !== 'signer-key')

function namedParts(
  include: readonly string[] | undefined,
  passphraseFile: string | undefined,
  parts: readonly InstallationPart[],
): Chosen {
  const seal = passphraseFile === undefined ? null : { passphraseFile }
  if (include?.includes('all') || (include === undefined && seal !== null)) {
    return { include: namesOf(seal === null ? inClear(parts) : parts.filter(isThere)), seal }
  }
  for (const name of include ?? []) {
    if (PART_NAMES.some((part) => part === name)) continue
    throw usage(`--include has no part "${name}": ${PART_NAMES.join(', ')}, or all`, { param: '--include' })
  }
  return { include: PART_NAMES.filter((part) => include?.includes(part)), seal }
}

/** The one question; Enter chooses the first answer. */
async function askFor(file: string, parts: readonly InstallationPart[], ui: Session['ui']): Promise<Chosen> {
  const all = parts.filter(isThere)
  const open = inClear(parts)
  const lost = (kept: readonly InstallationPart[]) => {
    const names = namesOf(all.filter((part) => !kept.includes(part)))
    return names.length === 0 ? '' : `, without ${names.join(', ')}`
  }
  const answer = await ui.ask({
    message: `Back up the database and ${namesOf(all).join(', ')} to ${file}?`,
    choices: [
      { value: 'sealed', label: 'Everything, in one file that a passphrase seals', about: '' },
      { value: 'clear', label: `A folder in clear, which anyone who reads it can use${lost(open)}`, about: '' },
      { value: 'database', label: `Only the database${lost([])}`, about: '' },
    ],
    check: () => undefined,
  })
  if (answer === 'sealed') return { include: namesOf(all), seal: { passphraseFile: undefined } }
  return { include: answer === 'clear' ? namesOf(open) : [], seal: null }
}

function keyNotes({ sealed, included, fingerprint }: BackupReport, parts: readonly InstallationPart[]): string[] {
  if (sealed) return ['Keep the passphrase in another place: nothing opens this file without it.']
  if (included.includes('encryption-key')) {
    return ['It holds the encryption key: who can read this folder can open everything that the database seals.']
  }
  const isSetting = parts.some((part) => part.name === 'encryption-key' && part.isSetting)
  if (!isSetting || fingerprint === null) return []
  return [
    `The key with fingerprint ${fingerprint} is SVC_ENCRYPTION_KEY: keep it in another place; nothing opens without it.`,
  ]
}

const restoreVerb = verb({
  about: 'Put a backup in place of this installation (SQLite)',
  details:
    'FILE is a backup, sealed or a folder, or only a database file, such as the copy before a migration. Every byte is checked before anything changes, and the key must be available. Replaced files are kept in the data folder. Refused while a daemon runs.',
  args: { file: required(text('The backup, or a database file')) },
  flags: {
    passphrase_file: text('The passphrase of a sealed backup, in a file (0600); svc asks without it', {
      placeholder: 'FILE',
    }),
    force: toggle('Replace the existing installation; its files are kept'),
  },
  examples: ['svc db restore backup-monday', 'svc db restore backup-monday --data-dir ~/svc --force --yes'],
  async run({ file, force, passphrase_file: passphraseFile }, { database, ui }: Session) {
    const passphrase = await database.passphraseFor(file, { force, passphraseFile })
    // A restore checks everything itself. With --force it first shows what it would replace.
    const facts = force ? await database.inspectBackup(file, passphrase) : null
    if (facts !== null && facts.replaces.length > 0) {
      await ui.preview(previewLines(facts))
      await ui.confirm(`Replace ${facts.replaces.join(', ')} in ${facts.data_dir}?`)
    }
    const data = await database.restore(file, { passphrase, force }, ui.progress('Restoring'))
    ui.clear()
    return {
      data,
      text: `Restored into ${data.data_dir}: ${['the database', ...data.included].join(', ')}.`,
      notes: [
        ...(data.aside === null ? [] : [`What it replaced is kept in ${data.aside}`]),
        ...data.left,
        ...(data.pending.length === 0
          ? []
          : [`Its schema is ${data.schema}: the next command migrates it, after a copy.`]),
        ...nextSteps(data),
      ],
    }
  },
})

const nextSteps = ({ data_dir, signer_keypair }: RestoreReport): string[] => [
  ...(signer_keypair === null
    ? []
    : [`The platform wallet's key is there too: svc config set signer.keypair ${signer_keypair}`]),
  `Check it: svc doctor --data-dir ${data_dir}`,
  `Start it: svc serve --data-dir ${data_dir}`,
]

const previewLines = ({ path, created_at, bytes, schema, included }: BackupFacts) => [
  `Backup ${path}${created_at === null ? '' : ` of ${timeText(created_at)}`}: ${sizeText(bytes)}, schema ${schema}`,
  `Parts beside the database: ${included.length === 0 ? 'none' : included.join(', ')}`,
]

// `svc db status` and `svc db migrate`.

const statusVerb = verb({
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

const migrateVerb = verb({
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

// `svc db export` and `svc db import`: a whole database through a file, between SQLite and PostgreSQL.

const exportVerb = verb({
  about: 'Write every table to a file that SQLite and PostgreSQL can import',
  details:
    'One JSON value a line, as of one moment, with the hash of each table. Sealed columns stay sealed: the encryption key is not in it. A daemon may run; what it writes later is not in the file.',
  args: { file: required(text('File to write (0600)')) },
  flags: { force: toggle('Replace the file') },
  examples: [
    'svc db export svc.jsonl',
    'SVC_DATABASE_URL_FILE=/run/secrets/database-url svc db export svc.jsonl --force -o json',
  ],
  async run({ file, force }, { database, ui }: Session) {
    const data = await database.export(file, force, ui.progress('Exporting'))
    ui.clear()
    return {
      ...transferOutcome(data),
      text: `Exported ${counted(data.rows, 'row')} of ${data.tables.length} tables to ${data.file} (${sizeText(data.bytes)}).`,
      notes: [
        ...(data.fingerprint === null ? [] : [`Only the key with fingerprint ${data.fingerprint} opens it.`]),
        ...(data.daemon === null
          ? []
          : [
              `The daemon (pid ${data.daemon}) is still running: to move to another database, stop it and export again.`,
            ]),
      ],
    }
  },
})

const importVerb = verb({
  about: 'Fill an empty database from an export',
  details:
    'Runs in one transaction: each table is read again, and its number of rows and its hash are compared with the export before the commit. Numbering continues where it ended. Refused if the database is not empty, or if the key differs.',
  args: { file: required(text('File that svc db export wrote', { existing: true })) },
  examples: [
    'SVC_DATABASE_URL_FILE=/run/secrets/database-url svc db import svc.jsonl',
    'svc db import svc.jsonl -o json',
  ],
  async run({ file }, { database, ui }: Session) {
    const facts = await database.inspectExport(file)
    await ui.preview([
      `Export of ${timeText(facts.created_at)} by svc ${facts.version} from ${facts.from}`,
      `→ ${facts.to} at ${facts.place}`,
    ])
    const data = await database.import(file, ui.progress('Importing'))
    ui.clear()
    return {
      ...transferOutcome(data),
      text: `Imported ${counted(data.rows, 'row')} of ${data.tables.length} tables into ${data.place}; every hash is that of the export.`,
      notes: [
        'Assets are files: copy the folder `assets` of the earlier installation if it has one; assets in a bucket stay there.',
      ],
    }
  },
})

const transferOutcome = (data: TransferReport) => ({
  data,
  rows: {
    columns: ['table', 'rows', 'sha256'],
    rows: data.tables.map(({ table, rows, sha256 }) => [table, rows, sha256]),
  },
})

export const databaseNoun: Noun = {
  verbs: {
    status: statusVerb,
    backup: backupVerb,
    restore: restoreVerb,
    export: exportVerb,
    import: importVerb,
    migrate: migrateVerb,
  },
}
