/** Notes: one line per verb. */
import { notes } from '../../src/api/notes.ts'
import { createNote } from '../../src/operations/notes/create-note.ts'
import { listNotes } from '../../src/operations/notes/list-notes.ts'
import type { Mount } from '../mount.ts'

export function notesRoutes(mount: Mount): void {
  mount(notes.create, createNote)
  mount(notes.list, listNotes)
}
