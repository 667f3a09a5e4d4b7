/** `svc db`: the database of this installation – its backups, its moves between databases, its schema and its size. */
import type { Noun } from '../cli/command.ts'
import { backupVerb, restoreVerb } from './backup.ts'
import { migrateVerb, statusVerb } from './schema.ts'
import { exportVerb, importVerb } from './transfer.ts'

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
