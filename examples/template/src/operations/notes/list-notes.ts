/** Notes, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageNotes } from '../../store/resources/notes.ts'
import { recordPage } from '../api-records.ts'
import { noteRecord } from './note-record.ts'

type ListNotesRoute = Api['notes']['list']

export async function listNotes({ store }: Context, input: Input<ListNotesRoute>): Promise<Result<ListNotesRoute>> {
  return recordPage(await pageNotes(store.db, input), noteRecord)
}
