/** Generates the OpenAPI 3.1 document from the same schemas that validate requests. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { DETECTION, EVENT_TYPES } from './event-types.ts'
import { deliveryHeaders, webhookPayload } from './events.ts'
import { api } from './index.ts'
import { completeExamples, type DocumentWithRequests } from './request-examples.ts'
import { ERRORS, type ErrorStatus, errorExample, RESPONSE_HEADERS } from './responses.ts'
import type { AnyRoute, Tag } from './route.ts'

const INTERFACE_VERSION = '2.0.0'

const DELIVERIES_TAG: Tag = {
  name: 'Webhooks',
  description: 'The requests that a subscription receives: one signed body for each event.',
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
      tags: [DELIVERIES_TAG.name],
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
      DELIVERIES_TAG,
    ],
  })
  completeExamples(document as unknown as DocumentWithRequests)
  return document
}

// The conventions of all operations, for the description of the OpenAPI document.

const errors = Object.entries(ERRORS).map(
  // The error's `doc_url` links to this anchor.
  ([status, { code, description, remedy }]) =>
    `| <a id="error-${code}"></a>\`${code}\` | ${status} | ${description} | ${remedy} |`,
)

/** Markdown; the last section has an anchor for each error, such as `#error-not_found`. */
const CONVENTIONS = `Token launches and related operations on Solana.

## Keys and scopes

Send an API key as \`Authorization: Bearer …\`. \`svc keys create\` makes one, and so does \`POST /v2/api-keys\`; it is shown once. Any key can read, and build unsigned transactions. What the platform wallet signs and pays for needs the scope that the operation names. The \`RateLimit\` header says what is left of the key's limits.

## Answers

Success is \`{ data, meta }\`, failure \`{ error, meta }\`. \`meta.request_id\` is the \`X-Request-Id\` that you sent, or one that the service made: quote it when you ask for help. Amounts are strings of digits in raw units. A body with an unknown field is refused, and the error names the field.

## Transactions

With \`mode: unsigned\` a request builds a transaction that your wallet signs. \`POST /v2/transactions\` submits it, with the \`tracked_resource\` of the build, and follows it until it is final. With \`mode: signed\` the platform wallet signs and submits, within its policy. \`dry_run: true\` checks and builds as usual, and stores nothing.

## Idempotency

Send an \`Idempotency-Key\` of 1 to 255 characters with any write. If no answer comes, send the same request again. For 24 hours it answers what was stored, with \`Idempotent-Replayed: true\`, and nothing is signed twice. The same key with another request is a \`conflict\`.

## Pages of a list

A list answers up to \`limit\` records, newest first. While \`meta.has_more\` is true, \`meta.next_cursor\` is the \`cursor\` of the next page.

## Events

Each event is reported once, by \`GET /v2/events\` and to webhook subscriptions. A delivery is signed in \`X-Service-Signature\`.

## Errors

\`code\` is for programs and \`message\` for people. \`param\` names the field at fault, and \`doc_url\` leads to the row of the code.

| Code | Status | Meaning | What to do |
|---|---|---|---|
${errors.join('\n')}
`
