/** Notes: one line per verb. */
import { api } from '../../src/api/index.ts'
import { createNote } from '../../src/operations/notes/create-note.ts'
import { listNotes } from '../../src/operations/notes/list-notes.ts'
import type { Mount } from '../mount.ts'

export function notesRoutes(mount: Mount): void {
  mount(api.notes.create, createNote)
  mount(api.notes.list, listNotes)
}
