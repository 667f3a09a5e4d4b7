/** Sessions of the console: the link that opens one, the list of those that are open, and their end. */
import { z } from '@hono/zod-openapi'
import { CONSOLE_ROLES } from './console-roles.ts'
import { deletedSchema, listQuery, writeBody } from './envelope.ts'
import { defineRoute, type Tag } from './route.ts'
import { recordId, timestamp } from './scalars.ts'

const role = z.enum(CONSOLE_ROLES).meta({
  description:
    '`viewer` reads what its API key may read, without scopes if it came by a link. `operator` also snoozes, replays, retries, pauses and switches on. Neither signs',
})

const consoleLink = z
  .object({
    id: z.string(),
    role,
    path: z.string().meta({
      description: 'Path of the link below the root of this service, shown only this once',
      example: '/console/enter/4fJ0mXr9LdT4sYb1WnGe6KpA7vQ2zHc5',
    }),
    url: z.url().nullable().meta({ description: 'The whole link; null unless `public-url` is set' }),
    expires_at: timestamp,
  })
  .openapi('ConsoleLink')

const consoleSession = z
  .object({
    id: z.string(),
    role,
    api_key_id: z.string().meta({ description: 'The key that signed in, or that made the link' }),
    created_at: timestamp,
    last_seen_at: timestamp,
    last_seen_from: z.string().meta({ description: 'Address of the browser' }),
    expires_at: timestamp,
  })
  .openapi('ConsoleSession')

export type ConsoleSession = z.output<typeof consoleSession>

const CONSOLE_TAG: Tag = { name: 'Console', description: 'Who may open the pages for operators at /console.' }

export const consoleSessions = {
  link: defineRoute({
    at: ['post', '/v2/console/links'],
    tag: CONSOLE_TAG,
    atomic: true,
    summary: 'Make a link that opens the console',
    description: 'It can be used once, within 60 seconds. The browser that uses it has a session for 12 hours.',
    body: writeBody({ role: role.default('operator') }),
    example: { role: 'viewer' },
    data: consoleLink,
    status: 201,
    scope: '*',
  }),
  list: defineRoute({
    at: ['get', '/v2/console/sessions'],
    tag: CONSOLE_TAG,
    summary: 'List the open sessions of the console, newest first',
    description: 'A session ends after 12 hours, when somebody ends it, and when its API key is revoked.',
    query: listQuery({}),
    data: consoleSession,
    list: true,
    scope: '*',
  }),
  end: defineRoute({
    at: ['delete', '/v2/console/sessions/{id}'],
    tag: CONSOLE_TAG,
    atomic: true,
    summary: 'End a session of the console',
    description: 'Its browser has to sign in again.',
    params: z.object({ id: recordId.meta({ example: 'cse_3kFz8NcR5uJq2XwTa9VbM7Hd' }) }),
    body: writeBody({}),
    data: deletedSchema,
    scope: '*',
  }),
}
