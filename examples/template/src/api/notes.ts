/** Notes: short texts that a wallet signs and puts on the chain as memos. */
import { z } from '@hono/zod-openapi'
import { address } from './chain-scalars.ts'
import { buildBody, listQuery } from './envelope.ts'
import { unsignedPayload } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, timestamp } from './scalars.ts'

export const NOTE_STATUSES = ['drafted', 'written'] as const

export const note = z
  .object({
    id: z.string().meta({ example: 'note_4fJq1Vb0aW2mX8sYtLcD3eRk' }),
    author: address,
    text: z.string(),
    status: z.enum(NOTE_STATUSES),
    created_at: timestamp,
  })
  .openapi('Note')

export const noteDrafted = unsignedPayload({ note }).openapi('NoteDrafted')

export type Note = z.output<typeof note>
export type NoteDrafted = z.output<typeof noteDrafted>

const NOTES_TAG: Tag = { name: 'Notes', description: 'Texts that a wallet has put on the chain.' }

export const notes = {
  create: defineRoute({
    at: ['post', '/v2/notes'],
    tag: NOTES_TAG,
    summary: 'Build a transaction that puts a text on the chain',
    description: 'The text is a memo that the author signs; it is listed once it has been seen on the chain.',
    body: buildBody({ author: address, text: line(280) }),
    data: noteDrafted,
    signed: 'refused',
  }),
  list: defineRoute({
    at: ['get', '/v2/notes'],
    tag: NOTES_TAG,
    summary: 'List notes, newest first',
    description: 'Notes that this service has seen on chain, and its own drafts.',
    query: listQuery({ author: address.optional() }),
    data: note,
    list: true,
  }),
}
