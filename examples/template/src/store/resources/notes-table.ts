/** Table of notes. */
import type { Recorded } from '../queries/recorded.ts'

interface NotesTable extends Recorded {
  id: string
  author: string
  text: string
  status: 'drafted' | 'written'
}

export interface NoteTables {
  notes: NotesTable
}
