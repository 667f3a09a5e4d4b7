/** Pay requests: builds that any wallet fetches, signs and sends after it has read a QR code (Solana Pay). */
import { z } from '@hono/zod-openapi'
import { address, signatureText, transactionBase64 } from './chain-scalars.ts'
import { deletedSchema, listQuery, writeBody } from './envelope.ts'
import { anyRecord, storedMetadata } from './metadata.ts'
import { trackedResource } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, nullOr, recordId, timestamp } from './scalars.ts'

const PAY_STATES = ['open', 'paid', 'expired', 'revoked'] as const
const HOUR_S = 3_600
/** Seconds of a pay request: at least a minute, at most a week. */
const EXPIRES_IN = { least: 60, most: 7 * 24 * HOUR_S }

const body = anyRecord
const account = address.meta({ description: 'The only wallet that may pay; without it, any wallet may' })

const request = z.strictObject({
  method: z.enum(['POST', 'PUT', 'DELETE']),
  path: line(512).meta({
    description: 'Path of a route that builds one transaction, such as `/v2/airdrops/{id}/claims`',
    example: '/v2/sol-transfers',
  }),
  body: body.default({}).meta({
    description: 'Its body, without the field of the wallet that pays and signs',
    example: { recipient: '6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78', lamports: '1000000' },
  }),
})

const payRequest = z
  .object({
    id: recordId.meta({
      description: 'Secret: whoever has it can fetch the transaction',
      example: 'pay_8LtQz5WmXc2RvYb7KdNe4JhF',
    }),
    state: z.enum(PAY_STATES).meta({
      description: '`paid` once its transaction has landed, even after it expired or was revoked',
    }),
    request: z.object({ method: z.string(), path: z.string(), body }),
    account: nullOr(account),
    url: z.url().meta({ description: 'What the wallet fetches: GET its label and icon, POST its transaction' }),
    link: z.string().meta({ description: 'The content of the QR code: `solana:` and the encoded URL' }),
    signature: nullOr(signatureText).meta({ description: 'The first transaction that landed' }),
    tracked_resource: nullOr(trackedResource).meta({ description: 'What that transaction changed' }),
    builds: z.int().min(0).meta({ description: 'Transactions that wallets have fetched' }),
    created_by: z.string().meta({ description: 'Id of the API key that made it' }),
    external_uid: z.string().nullable(),
    metadata: storedMetadata.nullable(),
    expires_at: timestamp,
    created_at: timestamp,
  })
  .openapi('PayRequest')
export type PayRequest = z.output<typeof payRequest>

const payBuild = z
  .object({
    transaction: transactionBase64,
    message: z.string().meta({ description: 'What the transaction does, as the wallet shows it' }),
    build: anyRecord.meta({
      description: 'The other fields of the answer of its route, without secret keys',
    }),
  })
  .openapi('PayBuild')

const EXAMPLE_ID = 'pay_8LtQz5WmXc2RvYb7KdNe4JhF'
const params = z.object({ id: recordId.meta({ example: EXAMPLE_ID }) })
const OWN = 'Only the key that made it, or one with the scope `*`, can do this.'

const PAY_REQUESTS_TAG: Tag = {
  name: 'Pay requests',
  description:
    'A transaction that a phone signs: its wallet reads a QR code, fetches the transaction, signs and sends it (Solana Pay).',
}

export const payRequests = {
  create: defineRoute({
    at: ['post', '/v2/pay-requests'],
    tag: PAY_REQUESTS_TAG,
    atomic: true,
    summary: 'Make a QR code with which a wallet fetches a transaction',
    description:
      'The transaction is built each time that a wallet fetches it, for the account of that wallet. A request is for one payment: it ends when its transaction has landed.',
    body: writeBody({
      request,
      account: account.optional(),
      expires_in: z
        .int()
        .min(EXPIRES_IN.least)
        .max(EXPIRES_IN.most)
        .default(HOUR_S)
        .meta({ description: 'Seconds until it expires' }),
    }),
    data: payRequest,
    status: 201,
  }),
  list: defineRoute({
    at: ['get', '/v2/pay-requests'],
    tag: PAY_REQUESTS_TAG,
    summary: 'List pay requests, newest first',
    description: 'Those of your key; all of them with the scope `*`.',
    query: listQuery({}),
    data: payRequest,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/pay-requests/{id}'],
    tag: PAY_REQUESTS_TAG,
    summary: 'Read one pay request, and whether it is paid',
    description: OWN,
    params,
    data: payRequest,
  }),
  build: defineRoute({
    at: ['post', '/v2/pay-requests/{id}/transactions'],
    tag: PAY_REQUESTS_TAG,
    summary: 'Build the transaction that a wallet would fetch',
    description: `With the fields of the build, so that you can check it before you show the QR code. ${OWN}`,
    params,
    body: writeBody({ account: address.meta({ description: 'The wallet that would pay' }) }),
    data: payBuild,
  }),
  revoke: defineRoute({
    at: ['delete', '/v2/pay-requests/{id}'],
    tag: PAY_REQUESTS_TAG,
    atomic: true,
    summary: 'Revoke a pay request',
    description: `Wallets get no further transaction. One that a wallet has already fetched can still land for a minute or two. ${OWN}`,
    params,
    body: writeBody({}),
    data: deletedSchema,
  }),
}
