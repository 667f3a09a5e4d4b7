/** Notes. */
import { inserting, listing } from './records.ts'

export const insertNote = inserting('notes')
export const pageNotes = listing('notes', ['author'], { weights: { text: 1, metadata_json: 1 } })
