/** What needs a person: one list over everything that waits, and a snooze for one item. */
import { z } from '@hono/zod-openapi'
import { ATTENTION_KINDS } from './attention-kinds.ts'
import { listQuery, writeBody } from './envelope.ts'
import { moment, queryFlag } from './filters.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, timestamp } from './scalars.ts'

/** `KIND.SUBJECT`, in characters that a URL carries as they are. */
const itemId = z
  .string()
  .regex(/^[a-z_]{1,40}\.[A-Za-z0-9_.:~-]{1,160}$/, 'must be the id of an item of GET /v2/attention')
  .meta({ example: 'receiver_off.whs_4KcVn2Rt8LpXw6YbQm1Zs9Ha' })

export const attentionItem = z
  .object({
    id: z.string().meta({
      description: 'Kind and subject. The same cause has the same id',
      example: 'receiver_off.whs_4KcVn2Rt8LpXw6YbQm1Zs9Ha',
    }),
    kind: z.enum(ATTENTION_KINDS),
    since: timestamp.meta({ description: 'When it began' }),
    ends_at: timestamp.nullable().meta({ description: 'When it ends by itself; null if it does not' }),
    subject: z.object({
      type: z.string().meta({
        description: 'What it concerns; each kind has one type, and `launch_unfinished` also `raise`',
        example: 'webhook_subscription',
      }),
      id: z.string().meta({ description: 'Its id or address' }),
    }),
    summary: z.string().meta({ description: 'What has happened, in one sentence' }),
    command: z.string().meta({ description: 'The command that deals with it, or that shows what to do' }),
    page: z.string().meta({ description: 'Path of its page, below the root of the service' }),
    snoozed_until: timestamp.nullable().meta({ description: 'End of its snooze; null if it is not snoozed' }),
    snooze_reason: z.string().nullable(),
  })
  .openapi('AttentionItem')
export type AttentionItem = z.output<typeof attentionItem>

const ATTENTION_TAG: Tag = {
  name: 'Attention',
  description: 'What waits for a person, with the command that deals with it.',
}

export const attention = {
  list: defineRoute({
    at: ['get', '/v2/attention'],
    tag: ATTENTION_TAG,
    summary: 'List what needs a person, oldest first',
    description:
      'An item disappears when its cause does. Each is read from stored facts, so the list answers while the node does not. Snoozed items are left out. `policy_nearly_spent` and `key_expires` need the scope `*`.',
    query: listQuery({
      kind: z.enum(ATTENTION_KINDS).optional(),
      subject: line(160).optional().meta({ description: 'Only what concerns this id or address' }),
      snoozed: queryFlag
        .optional()
        .meta({ description: 'With `true`: only snoozed items. Otherwise: only those that are not snoozed' }),
    }),
    data: attentionItem,
    list: true,
  }),
  snooze: defineRoute({
    at: ['post', '/v2/attention/{id}/snooze'],
    tag: ATTENTION_TAG,
    atomic: true,
    summary: 'Leave an item out of the list until a time',
    description:
      'The snooze ends at its time. It ends earlier if the cause disappears and begins anew. A second snooze replaces the first; with `until: null` the item is shown again. Each is an entry of the audit log.',
    params: z.object({ id: itemId }),
    body: writeBody({
      until: moment
        .nullable()
        .meta({ description: 'A time to come, at most a year ahead; null ends the snooze', example: 1790000000 }),
      reason: line(200)
        .optional()
        .meta({ description: 'Why it can wait; demanded with a time', example: 'the receiver is moved on Friday' }),
    }),
    data: attentionItem,
    scope: '*',
  }),
}
