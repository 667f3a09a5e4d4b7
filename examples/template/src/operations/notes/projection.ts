/** What confirmed transactions did to notes: a memo of its author wrote it on the chain. */

import type { Projection } from '../../following/projection.ts'
import { MEMO_PROGRAM } from '../../solana/program-ids.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import { findNote, updateNote } from '../../store/resources/notes.ts'
import { type NoteMemo, readNoteMemo } from './note-memo.ts'
import { noteRecord } from './note-record.ts'

interface WrittenNote extends NoteMemo {
  /** Address that signed the memo. */
  author: string | undefined
}

export const noteProjection: Projection<readonly WrittenNote[], never> = {
  async changesIn({ keys, instructions }) {
    const written = instructions.flatMap(({ programIdIndex, accounts: [signer], data }) => {
      const memo = keys[programIdIndex] === MEMO_PROGRAM ? readNoteMemo(data) : null
      return memo === null || signer === undefined ? [] : [{ ...memo, author: keys[signer] }]
    })
    return written.length === 0 ? null : written
  },
  async write(tx, { changes, transaction, slot }) {
    const drafts: EventDraft[] = []
    for (const { id, author, text } of changes) {
      const row = await findNote(tx, id)
      if (row === null || row.status === 'written' || row.author !== author || row.text !== text) continue
      await updateNote(tx, id, { status: 'written' })
      const { signature } = transaction
      const object = { ...noteRecord({ ...row, status: 'written' }), slot, signature, source: 'chain' }
      const about = { resource_type: 'note', resource_id: id, object, dedupe_by: signature, origin: row }
      drafts.push({ type: 'note.written', ...about })
    }
    return drafts
  },
}
