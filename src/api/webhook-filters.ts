/** The filter of a webhook subscription: which events of its types it wants. */
import { z } from '@hono/zod-openapi'
import { address } from './chain-scalars.ts'
import { line } from './scalars.ts'

/** Most entries of each part. All of them are compared with every new event. */
const MOST = { types: 20, resources: 50, addresses: 50, fields: 10, values: 50 } as const

/** Largest filter, as JSON: every look for due deliveries reads it. */
const MOST_BYTES = 8 * 1024

const typePattern = z
  .string()
  .max(64)
  .regex(/^[a-z_]+\.(?:\*|[a-z_]+)$/, 'must be an event type, or all of a kind such as pool.*')

export const webhookFilter = z
  .strictObject({
    types: z
      .array(typePattern)
      .min(1)
      .max(MOST.types)
      .optional()
      .meta({ description: 'Types among `enabled_events`; `pool.*` stands for all types of pools' }),
    resources: z
      .array(z.strictObject({ type: line(64), id: line(256) }))
      .min(1)
      .max(MOST.resources)
      .optional()
      .meta({ description: 'What the event is about: `resource_type` and `resource_id`' }),
    addresses: z.array(address).min(1).max(MOST.addresses).optional().meta({
      description: 'Addresses of which `data.object` has one as a value, at any depth; its `metadata` does not count',
    }),
    fields: z
      .array(z.strictObject({ field: line(128), values: z.array(line(256)).min(1).max(MOST.values) }))
      .min(1)
      .max(MOST.fields)
      .optional()
      .meta({
        description:
          'Fields of the event that must each have one of these values, compared as text. `data.mint` is `data.object.mint`; `external_uid` and `metadata.NAME` are possible too',
      }),
  })
  .refine((filter) => Object.keys(filter).length > 0, 'must have types, resources, addresses or fields')
  .refine(
    (filter) => new TextEncoder().encode(JSON.stringify(filter)).length <= MOST_BYTES,
    `must be at most ${MOST_BYTES / 1024} KiB as JSON: use several subscriptions`,
  )
  .openapi('WebhookFilter', {
    description: 'An event must match every part that is given, and in each part one entry; all of `fields`',
    example: { types: ['pool.*'], fields: [{ field: 'data.symbol', values: ['FIRST'] }] },
  })

export type WebhookFilter = z.output<typeof webhookFilter>
