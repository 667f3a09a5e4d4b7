/** Approvers: people who approve acts of the platform wallet, with a wallet of their own. */
import { z } from '@hono/zod-openapi'
import { address } from './chain-scalars.ts'
import { listQuery, writeBody } from './envelope.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, recordId, timestamp } from './scalars.ts'

export const approver = z
  .object({
    address: address.meta({ description: 'Public key of the wallet with which they sign their decisions' }),
    name: z.string(),
    api_key_id: z
      .string()
      .nullable()
      .meta({ description: 'API key of the same person, whose requests this approver cannot approve' }),
    status: z.enum(['active', 'removed']),
    created_at: timestamp,
    removed_at: timestamp.nullable(),
  })
  .openapi('Approver')
export type Approver = z.output<typeof approver>

const APPROVERS_TAG: Tag = {
  name: 'Approvers',
  description: 'Who may approve acts of the platform wallet for which its policy demands approvals.',
}

export const approvers = {
  add: defineRoute({
    at: ['post', '/v2/approvers'],
    tag: APPROVERS_TAG,
    atomic: true,
    summary: 'Add an approver',
    description:
      'A person, by the address of a wallet of theirs. The platform wallet cannot approve. An approver who was removed is added again.',
    body: writeBody({
      address,
      name: line(100).meta({ example: 'Ada' }),
      api_key_id: recordId
        .optional()
        .meta({ description: 'API key of the same person, whose requests this approver cannot approve' }),
    }),
    data: approver,
    status: 201,
    scope: '*',
  }),
  list: defineRoute({
    at: ['get', '/v2/approvers'],
    tag: APPROVERS_TAG,
    summary: 'List approvers, newest first',
    description: 'Also those who were removed.',
    query: listQuery({}),
    data: approver,
    list: true,
    scope: '*',
  }),
  remove: defineRoute({
    at: ['delete', '/v2/approvers/{address}'],
    tag: APPROVERS_TAG,
    atomic: true,
    summary: 'Remove an approver',
    description: 'Their approvals of proposals that are not executed yet no longer count.',
    params: z.object({ address }),
    body: writeBody({}),
    data: approver,
    scope: '*',
  }),
}
