/** A row of the notes as the API answers it. */
import type { Note } from '../../api/index.ts'
import type { Row } from '../../store/schema.ts'

export const noteRecord = ({ id, author, text, status, created_at }: Row<'notes'>): Note => ({
  id,
  author,
  text,
  status,
  created_at: new Date(created_at).toISOString(),
})
