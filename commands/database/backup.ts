/** `svc db backup` and `svc db restore`. */
import { listOf, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'
import {
  type BackupFacts,
  type BackupReport,
  type BackupRequest,
  type InstallationPart,
  PART_NAMES,
  type RestoreReport,
} from './installation.ts'
import { sizeText } from './sizes.ts'

export const backupVerb = verb({
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

export const restoreVerb = verb({
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
