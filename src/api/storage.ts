/** Storage: delegations for uploading images and metadata directly, without this server. */
import { z } from '@hono/zod-openapi'
import { base64Text } from './chain-scalars.ts'
import { writeBody } from './envelope.ts'
import { defineRoute, type Tag } from './route.ts'
import { timestamp } from './scalars.ts'

const storageDelegation = z
  .object({
    delegation: base64Text.meta({ description: 'UCAN delegation, upload only, as a CAR file in base64' }),
    expires_at: timestamp.meta({ description: 'At most 24 hours ahead' }),
  })
  .openapi('StorageDelegation')

const STORAGE_TAG: Tag = {
  name: 'Storage',
  description: 'Lends others the right to upload to your Storacha space, which stores images and metadata.',
}

export const storage = {
  delegate: defineRoute({
    at: ['post', '/v2/storage/delegations'],
    tag: STORAGE_TAG,
    summary: 'Delegate uploads to an agent',
    description:
      'Lets a browser or a CI job upload to your Storacha space directly, without this service, for at most a day. The delegation cannot be revoked.',
    body: writeBody({
      agent_did: z
        .string()
        .max(1024)
        .regex(/^did:key:z[1-9A-HJ-NP-Za-km-z]+$/, 'must be an agent identifier of the form did:key:z…')
        .meta({ example: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' }),
    }),
    data: storageDelegation,
    scope: 'storage:delegate',
  }),
}
