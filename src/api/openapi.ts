/** Generates the OpenAPI 3.1 document from the same schemas that validate requests. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { CONVENTIONS } from './conventions.ts'
import { EVENT_TYPES } from './event-types.ts'
import { DETECTION, deliveryHeaders, webhookPayload } from './events.ts'
import { api } from './index.ts'
import { completeExamples, type DocumentWithRequests } from './request-examples.ts'
import { ERRORS, type ErrorStatus, errorExample, RESPONSE_HEADERS } from './responses.ts'
import type { AnyRoute } from './route.ts'

export const INTERFACE_VERSION = '2.0.0'

/** What the operations of each tag are about. */
const TAGS: Readonly<Record<string, string>> = {
  Service: 'Whether the service answers, which chain it is on, how its workers do, and what it can report.',
  Pools:
    'Launches on a bonding curve of Meteora: preview, rehearse and launch, buy and sell, and follow the pool to its migration.',
  'Fee claims': 'What pools have earned, paid out to the partner or the creator, in one transaction with its splits.',
  'Fee schedules': 'Claims that the platform wallet signs by itself, at the times of a cron expression.',
  Airdrops:
    'Distributors on chain, which pay whoever proves to be on a list: create and fund one, claim from it, and withdraw what nobody claimed.',
  'Merkle trees': 'Lists of wallets and amounts, the root that stands for them on chain, and the proof of each wallet.',
  'Holder snapshots': 'Who held a token, or the assets of a collection, at one slot: what an airdrop is computed from.',
  Stakes: 'Assets that are frozen in the wallet of their owner, and can be released again.',
  NFTs: 'Assets of Metaplex Core and their collections: mint into one, read, burn.',
  'Gold locks': "A wallet's gold tokens, locked until a date that nobody can change.",
  Tokens: 'Mints of both token programs with their metadata: create, read, revoke authorities, send to many.',
  Transactions: 'What a wallet has signed is simulated, submitted, and followed until it is final or has expired.',
  Accounts: 'Accounts as the chain has them, and what a wallet holds.',
  PDAs: 'Addresses that programs derive, computed without the chain.',
  Storage: 'The space at Storacha in which images and metadata are kept, lent to others for uploads.',
  Events: 'Everything that happened, told once each, and checked against the chain.',
  'Webhook subscriptions':
    'Where events are delivered to: subscribe, test, look at deliveries, replay, rotate the secret.',
  Signer: 'The platform wallet: its provider, its policy, and how to stop it at once.',
  Ledger: 'Every balance that a transaction of this service changed, in entries that sum to zero.',
  'API keys': 'Who may call this API, for what, and how often.',
  Webhooks: 'What is sent to a subscription: one signed body for each event.',
}

/** Builds the document at every call; callers should cache it. */
export function openApiDocument() {
  const generator = new OpenAPIHono()
  const registry = generator.openAPIRegistry
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key made by `svc keys create` or POST /v2/api-keys',
  })
  for (const [name, header] of Object.entries(RESPONSE_HEADERS)) registry.registerComponent('headers', name, header)
  for (const [status, { code, description }] of Object.entries(ERRORS)) {
    const value = errorExample(Number(status) as ErrorStatus)
    registry.registerComponent('examples', code, { summary: description, value })
  }
  for (const routes of Object.values(api) as Record<string, AnyRoute>[]) {
    for (const route of Object.values(routes)) registry.registerPath(route.openapi)
  }
  for (const type of EVENT_TYPES) {
    registry.registerWebhook({
      method: 'post',
      path: type,
      operationId: `on${type.replace(/(^|[._])(\w)/g, (_, __, letter: string) => letter.toUpperCase())}`,
      tags: ['Webhooks'],
      summary: `${type} (${DETECTION[type]})`,
      security: [],
      request: {
        headers: deliveryHeaders,
        body: { content: { 'application/json': { schema: webhookPayload } }, required: true },
      },
      responses: {
        200: { description: 'Any 2xx within 10 seconds accepts the delivery' },
        400: { description: 'Anything else is a failure and is tried again' },
      },
    })
  }
  const document = generator.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version: INTERFACE_VERSION,
      description: CONVENTIONS,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [
      ...new Set(
        (Object.values(api) as Record<string, AnyRoute>[]).flatMap((routes) =>
          Object.values(routes).map(({ tag }) => tag),
        ),
      ),
      'Webhooks',
    ].map((name) => ({ name, description: TAGS[name] ?? '' })),
  })
  completeExamples(document as unknown as DocumentWithRequests)
  return document
}
