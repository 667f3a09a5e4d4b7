/** `svc db backup` and `svc db restore`. */
import { listOf, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'
import { type BackupFacts, type InstallationPart, PART_NAMES, type PartName } from './installation.ts'
import { sizeText } from './sizes.ts'

export const backupVerb = verb({
  about: 'Copy the installation into a folder, while the daemon runs (SQLite)',
  details:
    'The copy is of one moment: it has every write that was answered before. It has only the database unless --include names more: encryption-key (opens what is sealed), operator-key, assets, chain, profiles, or all.',
  args: { file: required(text('Folder to make (0700, its files 0600)')) },
  flags: {
    include: listOf('Parts beside the database: encryption-key, operator-key, assets, chain, profiles, or all', {
      placeholder: 'PART,…',
    }),
    force: toggle('Replace an earlier backup of that name'),
  },
  examples: [
    'svc db backup backup-monday --include encryption-key,operator-key,assets',
    'svc db backup /mnt/backups/svc --include all --force -o json',
  ],
  async run({ file, include, force }, { database, ui }: Session) {
    const parts = await database.parts()
    const chosen = include === undefined ? await askFor(parts, ui) : includedParts(include, parts)
    await ui.preview([
      `Backing up the database and ${chosen.length === 0 ? 'nothing else' : chosen.join(', ')} to ${file}.`,
    ])
    const data = await database.backup({ folder: file, include: chosen, force }, ui.progress('Copying'))
    ui.clear()
    const left = parts.filter(({ name, path }) => path !== null && !chosen.includes(name))
    return {
      data: { ...data, left_out: left.map(({ name }) => name) },
      text: `Backed up to ${data.folder}: ${data.files === 1 ? '1 file' : `${data.files} files`}, ${sizeText(data.bytes)}.`,
      notes: [
        ...chosen.filter((name) => !data.included.includes(name)).map((name) => `There is no ${name} here yet.`),
        ...left.map(({ name, without }) => `Without ${name}: ${without}`),
        ...parts.flatMap(({ elsewhere }) => (elsewhere === null ? [] : [`Not in this backup: ${elsewhere}.`])),
        ...keyNotes(data.included, parts, data.fingerprint),
        `Restore: svc db restore ${file} --data-dir FOLDER`,
      ],
    }
  },
})

function includedParts(include: readonly string[], parts: readonly InstallationPart[]): PartName[] {
  if (include.includes('all')) return parts.filter(({ path }) => path !== null).map(({ name }) => name)
  for (const name of include) {
    if (PART_NAMES.some((part) => part === name)) continue
    throw usage(`--include has no part "${name}": ${PART_NAMES.join(', ')}, or all`, { param: '--include' })
  }
  return PART_NAMES.filter((part) => include.includes(part))
}

/** Asks for each part on a terminal; without one, only what is named is included. */
async function askFor(parts: readonly InstallationPart[], ui: Session['ui']): Promise<PartName[]> {
  if (!ui.interactive) return []
  const chosen: PartName[] = []
  for (const { name, path, bytes, about } of parts) {
    if (path === null) continue
    const message = `Include ${name} (${sizeText(bytes)}): ${about}?`
    if (
      (await ui.ask({
        message,
        choices: ['no', 'yes'].map((value) => ({ value, about: '' })),
        check: () => undefined,
      })) === 'yes'
    )
      chosen.push(name)
  }
  return chosen
}

function keyNotes(included: readonly PartName[], parts: readonly InstallationPart[], fingerprint: string | null) {
  if (included.includes('encryption-key')) {
    return ['It holds the encryption key: who can read this folder can open everything that the database seals.']
  }
  const key = parts.find(({ name }) => name === 'encryption-key')
  if (key?.path !== null || fingerprint === null) return []
  return [`The key with fingerprint ${fingerprint} is SVC_ENCRYPTION_KEY: keep it elsewhere; nothing opens without it.`]
}

export const restoreVerb = verb({
  about: 'Put a backup in place of this installation (SQLite)',
  details:
    'FILE is the folder of a backup, or only a database file, such as the copy before a migration. Every byte is checked before anything changes, and the key must be available. Replaced files are kept in the data folder. Refused while a daemon runs.',
  args: { file: required(text('Folder of the backup, or a database file')) },
  flags: { force: toggle('Replace the existing installation; its files are kept') },
  examples: ['svc db restore backup-monday', 'svc db restore backup-monday --data-dir ~/svc --force --yes'],
  async run({ file, force }, { database, ui }: Session) {
    // A restore checks everything itself. With --force it first shows what it would replace.
    const facts = force ? await database.inspectBackup(file) : null
    if (facts !== null && facts.replaces.length > 0) {
      await ui.preview(previewLines(facts))
      await ui.confirm(`Replace ${facts.replaces.join(', ')} in ${facts.data_dir}?`)
    }
    const data = await database.restore(file, force, ui.progress('Restoring'))
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
        'Check it: svc doctor, svc audit verify',
      ],
    }
  },
})

const previewLines = ({ path, created_at, bytes, schema, included }: BackupFacts) => [
  `Backup ${path}${created_at === null ? '' : ` of ${created_at}`}: ${sizeText(bytes)}, schema ${schema}`,
  `Parts beside the database: ${included.length === 0 ? 'none' : included.join(', ')}`,
]
