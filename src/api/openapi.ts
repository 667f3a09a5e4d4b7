/** Generates the OpenAPI 3.1 document from the same schemas that validate requests. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { CONVENTIONS } from './conventions.ts'
import { DETECTION, EVENT_TYPES } from './event-types.ts'
import { deliveryHeaders, webhookPayload } from './events.ts'
import { api } from './index.ts'
import { completeExamples, type DocumentWithRequests } from './request-examples.ts'
import { ERRORS, type ErrorStatus, errorExample, RESPONSE_HEADERS } from './responses.ts'
import type { AnyRoute } from './route.ts'

export const INTERFACE_VERSION = '2.0.0'

/** What the operations of each tag are about. */
const TAGS: Readonly<Record<string, string>> = {
  Service: 'Whether the service answers, which chain it uses, the state of its workers, and which events it reports.',
  Pools:
    'Launches on a bonding curve of Meteora: preview, rehearse and launch, buy and sell, and follow the pool to its migration.',
  'Fee claims': 'Pays out what pools have earned to the partner or the creator, and splits it in the same transaction.',
  'Fee schedules': 'Claims that the platform wallet signs automatically, at the times of a cron expression.',
  Airdrops:
    'Distributors on chain, which pay each wallet that proves it is on a list: create and fund one, claim from it, and withdraw unclaimed tokens.',
  'Merkle trees': 'Lists of wallets and amounts, the root that represents them on chain, and the proof of each wallet.',
  'Holder snapshots': 'Who held a token, or the assets of a collection, at one slot: the basis of an airdrop.',
  Stakes: 'Assets that are frozen in the wallet of their owner until they are released.',
  NFTs: 'Assets of Metaplex Core and their collections: mint into one, read, burn.',
  'Gold locks': 'Gold tokens (of the mint in the setting `gold.mint`) that a wallet locks until a fixed date.',
  Tokens: 'Mints of both token programs with their metadata: create, read, revoke authorities, send to many.',
  Transactions: 'Signed transactions are simulated, submitted, and followed until they are final or have expired.',
  Accounts: 'Accounts on the chain, and what a wallet holds.',
  PDAs: 'Addresses that programs derive, computed without the chain.',
  Storage: 'Lends others the right to upload to your Storacha space, which stores images and metadata.',
  Events: 'Everything that happened: each event is reported once, and can be checked against the chain.',
  'Webhook subscriptions':
    'Where events are delivered to: subscribe, test, look at deliveries, replay, rotate the secret.',
  Signer: 'The platform wallet: its provider, its policy, and how to stop it at once.',
  Ledger: 'Every balance that a transaction of this service changed, in entries that add up to zero.',
  'API keys': 'Who may call which parts of this API, and how often.',
  Webhooks: 'The requests that a subscription receives: one signed body for each event.',
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
        400: { description: 'Anything else is a failure; the delivery is retried' },
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
