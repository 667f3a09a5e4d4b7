/** Notes. */
import { finding, inserting, listing, updating } from '../queries/records.ts'

export const insertNote = inserting('notes')
export const findNote = finding('notes', 'id')
export const updateNote = updating('notes', 'id')
export const pageNotes = listing('notes', ['author'], { weights: { text: 1, metadata_json: 1 } })
