/** Health of the service and its workers, and the list of event types. */

import { z } from '@hono/zod-openapi'
import { CONSENSUSES } from '../solana/constants.ts'
import { address } from './chain-scalars.ts'
import { DAEMON_ROLES } from './daemon-roles.ts'
import { eventTypeItem } from './events.ts'
import { defineRoute, type Tag } from './route.ts'
import { timestamp } from './scalars.ts'
import { WORKER_NAMES } from './worker-names.ts'

const serviceHealth = z
  .object({
    status: z.literal('healthy'),
    timestamp,
    service: z.string().meta({ example: 'svc' }),
    version: z.string().meta({ example: '2.0.0' }),
  })
  .openapi('Health')

export const worker = z
  .object({
    name: z.enum(WORKER_NAMES),
    running: z.boolean(),
    healthy: z.boolean().meta({
      description:
        'True if it runs and is not stalled, its last tick succeeded, and more of its last five ticks succeeded than failed',
    }),
    last_tick_at: timestamp.nullable(),
    ticks_total: z.int().min(0).meta({ description: 'Successful ticks since the start' }),
    errors_total: z.int().min(0),
    last_error: z.string().nullable(),
    last_error_at: timestamp.nullable(),
    stalled_reason: z.string().nullable().meta({
      description: 'Why it has completed no tick for three periods, at least half a minute; null while it works',
      example: null,
    }),
  })
  .openapi('Worker')

const WAITING_KINDS = ['migration', 'fee_schedule', 'webhook'] as const

const waitingItem = z
  .object({
    kind: z.enum(WAITING_KINDS).meta({
      description:
        '`migration`: the platform wallet could not migrate a full curve; `fee_schedule`: the last run of an active schedule was refused; `webhook`: a subscription was switched off because its events failed',
    }),
    id: z.string().meta({ description: 'The pool, the schedule, or the subscription' }),
    reason: z.string(),
    next_try_at: timestamp.nullable().meta({ description: 'When the service tries again; null if it does not' }),
  })
  .openapi('WaitingItem')

const workerStatus = z
  .object({
    all_healthy: z.boolean().meta({
      description:
        'True only if every worker is running and has more successful ticks than errors since its start; false is only a hint',
    }),
    recently_healthy: z.boolean().meta({
      description: 'True if every worker is `healthy`, judged by its last five ticks',
    }),
    observed_at: timestamp,
    role: z.enum(DAEMON_ROLES).nullable().meta({
      description:
        'Role of this daemon. One with the role `api` runs no workers, and reads the state of the other daemons’ workers from the database. Null if a command answers without a daemon',
      example: 'all',
    }),
    workers: z.array(worker),
    waiting: z.array(waitingItem).meta({
      description:
        'What waits until somebody acts, at most 20 of a kind. Every daemon of the database answers the same',
    }),
  })
  .openapi('WorkerStatus')

export const cluster = z
  .object({
    cluster: z.string().meta({ description: 'Moniker, or host of the RPC node', example: 'mainnet-beta' }),
    genesis_hash: address.meta({ description: 'Identifies the chain, independent of the node' }),
    slot: z.int().min(0).meta({ description: 'At commitment `confirmed`, like the block height' }),
    block_height: z.int().min(0),
    slot_ms: z.int().min(1).nullable().meta({
      description:
        "Milliseconds per slot, measured over the node's last performance samples; null if it has none. A blockhash is valid for 150 blocks",
      example: 250,
    }),
    consensus: z.enum(CONSENSUSES).nullable().meta({
      description:
        'How the cluster agrees on its blocks. With `alpenglow` `confirmed` and `finalized` name the same block; null if no node says',
      example: 'alpenglow',
    }),
    alpenglow_slot: z.int().min(0).nullable().meta({
      description: 'Slot of the block from which the cluster changed to Alpenglow; null without Alpenglow',
      example: 459652999,
    }),
    blockhash_valid: z.boolean().optional().meta({ description: 'Whether the requested blockhash can still be used' }),
  })
  .openapi('ClusterState')

export type ClusterState = z.output<typeof cluster>
export type Health = z.output<typeof serviceHealth>
export type Worker = z.output<typeof worker>
export type WaitingItem = z.output<typeof waitingItem>
export type WorkerStatus = z.output<typeof workerStatus>

const SERVICE_TAG: Tag = {
  name: 'Service',
  description:
    'Whether the service answers, which chain it uses, the state of its workers, and which events it reports.',
}

export const service = {
  health: defineRoute({
    at: ['get', '/v2/health'],
    tag: SERVICE_TAG,
    summary: 'Check whether the service answers',
    description:
      'Answers whenever the process can, without checking the database or the node. `GET /ready` checks those too.',
    data: serviceHealth,
    public: true,
  }),
  workers: defineRoute({
    at: ['get', '/v2/health/workers'],
    tag: SERVICE_TAG,
    summary: 'Read the state of the background workers',
    description:
      'What each worker did last, and the reason if it is stalled. A daemon without workers reads the state of the other daemons’ workers from the database.',
    data: workerStatus,
  }),
  cluster: defineRoute({
    at: ['get', '/v2/cluster'],
    tag: SERVICE_TAG,
    summary: 'Read which chain this is, its block height, and how long a slot takes',
    description: 'With `last_valid_block_height` of a build, this tells how long its transaction can still be sent.',
    query: z.strictObject({
      blockhash: address.optional().meta({ description: 'Blockhash to check, base58' }),
    }),
    data: cluster,
  }),
  eventTypes: defineRoute({
    at: ['get', '/v2/webhook-event-types'],
    tag: SERVICE_TAG,
    summary: 'List every event type and how it is detected',
    description: 'The whole catalogue, without pages.',
    data: z.array(eventTypeItem),
    public: true,
  }),
}
