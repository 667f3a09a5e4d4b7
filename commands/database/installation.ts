/** The database of this installation as `svc db` uses it; `bin/` opens it. */

/** Called with the progress and the total, in a unit of the step. */
export type StepProgress = (done: number, total: number) => void

export interface Database {
  status(): Promise<DatabaseStatus>
  /**
   * What belongs to this installation beside its database. Throws on PostgreSQL, with the command to use there, and if
   * there is no database or `target` cannot be written.
   */
  parts(target: Pick<BackupRequest, 'file' | 'force'>): Promise<readonly InstallationPart[]>
  backup(request: BackupRequest, onProgress: StepProgress): Promise<BackupReport>
  /** The passphrase of a sealed backup, from the file or typed; null for a backup that is not sealed. */
  passphraseFor(path: string, options: { force: boolean; passphraseFile: string | undefined }): Promise<string | null>
  /** Checks every byte of a backup and, unless it is sealed, that its key is available; changes nothing. */
  inspectBackup(path: string, passphrase: string | null): Promise<BackupFacts>
  restore(path: string, options: RestoreOptions, onProgress: StepProgress): Promise<RestoreReport>
  export(file: string, force: boolean, onProgress: StepProgress): Promise<TransferReport>
  /** Reads the beginning of an export and checks that its key is available; changes nothing. */
  inspectExport(file: string): Promise<ExportFacts>
  import(file: string, onProgress: StepProgress): Promise<TransferReport>
  /** Applied and pending migrations; changes nothing. */
  migrations(): Promise<MigrationList>
  migrate(copyFirst: boolean): Promise<MigrationReport>
}

export const PART_NAMES = [
  'encryption-key',
  'operator-key',
  'signer-key',
  'assets',
  'chain',
  'profiles',
  'wallets',
] as const
export type PartName = (typeof PART_NAMES)[number]

export interface InstallationPart {
  name: PartName
  /** File or folder; null if this installation has none. */
  path: string | null
  bytes: number
  /** Whether it is the value of a setting, which only a sealed backup copies. */
  isSetting: boolean
  /** What the part is. */
  about: string
  /** What a backup can and cannot do without it. */
  without: string
  /** Where else the part has content, which no backup includes; null if all of it is at `path`. */
  elsewhere: string | null
}

export interface BackupRequest {
  /** The folder, or the file of a sealed backup. */
  file: string
  include: readonly PartName[]
  /** Makes one encrypted file; the passphrase is asked for if no file has it. Null makes a folder in clear. */
  seal: { passphraseFile: string | undefined } | null
  /** Replaces an earlier backup of the same name. */
  force: boolean
}
export interface BackupReport {
  path: string
  sealed: boolean
  included: readonly PartName[]
  files: number
  bytes: number
  /** Fingerprint of the key that opens the sealed columns; null for a database without one. */
  fingerprint: string | null
  /** Last migration of the database. */
  schema: string
}
export interface BackupFacts {
  path: string
  created_at: string | null
  schema: string
  /** Migrations that the restored database lacks; its next use applies them. */
  pending: readonly string[]
  fingerprint: string | null
  included: readonly PartName[]
  bytes: number
  /** Files of this installation that a restore would put aside. */
  replaces: readonly string[]
  data_dir: string
}
export interface RestoreOptions {
  passphrase: string | null
  /** Replaces an existing installation. */
  force: boolean
}
export interface RestoreReport extends BackupFacts {
  /** Folder that keeps the replaced files; null if there were none. */
  aside: string | null
  /** Files of the backup that were not restored, with the reason. */
  left: readonly string[]
  /** The restored key file of the platform wallet that `signer.keypair` has to name; null if nothing has to change. */
  signer_keypair: string | null
}
export interface ExportFacts {
  file: string
  created_at: string
  version: string
  from: string
  to: string
  place: string
  fingerprint: string | null
}
export interface TransferReport {
  file: string
  database: string
  place: string
  fingerprint: string | null
  rows: number
  bytes: number
  tables: readonly { table: string; rows: number; sha256: string }[]
  /** Pid of the daemon that was running; null without one. */
  daemon: number | null
}
export interface MigrationList {
  database: string
  place: string
  applied: readonly string[]
  pending: readonly string[]
  faults: readonly string[]
}
interface MigrationReport extends MigrationList {
  /** File with the database as it was before; null if none was made. */
  copy: string | null
}
export interface DatabaseStatus extends MigrationList {
  exists: boolean
  fingerprint: string | null
  bytes: number
  wal_bytes: number | null
  tables: readonly { table: string; rows: number; exact: boolean; bytes: number; grows_with: string | null }[]
}
