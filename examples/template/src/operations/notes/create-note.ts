/** Builds the transaction that puts a note on the chain, and stores the note with its event. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildMemo } from '../../chain/programs/memos.ts'
import type { Context } from '../../context.ts'
import { writeEvent } from '../../store/events/drafts.ts'
import { newId } from '../../store/id.ts'
import { insertNote } from '../../store/resources/notes.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { noteMemo } from './note-memo.ts'
import { noteRecord } from './note-record.ts'

type CreateNoteRoute = Api['notes']['create']

export async function createNote(
  context: Context,
  { author, text }: Input<CreateNoteRoute>,
): Promise<Result<CreateNoteRoute>> {
  const id = newId('note')
  const built = await buildTransaction(context, {
    payer: author,
    // Half more than the longest memo was measured at.
    fallbackUnits: 150_000,
    build: (envelope) => buildMemo({ ...envelope, memo: noteMemo({ id, text }) }),
  })
  const { clock, externalUid, metadata } = context
  return context.commit(async (tx) => {
    const row = await insertNote(tx, {
      id,
      author,
      text,
      status: 'drafted',
      external_uid: externalUid ?? null,
      metadata_json: metadata === undefined ? null : JSON.stringify(metadata),
      created_at: clock.now(),
    })
    const note = noteRecord(row)
    const about = { resource_type: 'note', resource_id: id, object: note, origin: row }
    await writeEvent(tx, clock, { type: 'note.drafted', ...about })
    return { ...unsignedAnswer(built), note, tracked_resource: trackingOf('note', id, ['note.written']) }
  })
}
