/** Generates the OpenAPI 3.1 document from the same schemas that validate requests. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { DETECTION, EVENT_TYPES } from './event-types.ts'
import { deliveryHeaders, webhookPayload } from './events.ts'
import { api } from './index.ts'
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

/** The parts of a schema that an example is built from. */
interface Schema {
  $ref?: string
  type?: string | string[]
  example?: unknown
  default?: unknown
  const?: unknown
  enum?: unknown[]
  minimum?: number
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Schema
  example?: unknown
}

interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema; example?: object }> }
}

/** The parts of the document that describe requests. */
export interface DocumentWithRequests {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** The example of a request: path and query parameters, and the body. */
export interface RequestExample {
  path: Record<string, unknown>
  query: Record<string, unknown>
  body: object | undefined
}

const JSON_TYPE = 'application/json'

/**
 * Completes the example of each JSON body with its required fields. Optional parameters lose their examples, because
 * an interactive page fills in every example and would send unwanted filters.
 */
function completeExamples({ paths, components: { schemas } }: DocumentWithRequests): void {
  for (const operation of operationsOf(paths)) {
    const body = operation.requestBody?.content[JSON_TYPE]
    if (body !== undefined)
      body.example = { ...(exampleOf(body.schema, schemas, operation) as object), ...body.example }
    for (const parameter of operation.parameters ?? []) {
      if (parameter.required) parameter.example = exampleOf(parameter.schema, schemas, operation)
      else delete parameter.example
      // The schema of a parameter is used only here, unless it is a reference.
      const { example: _, ...schema } = parameter.schema
      parameter.schema = schema
    }
  }
}

const operationsOf = (paths: DocumentWithRequests['paths']): Operation[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods))

/** The example of an operation in a completed document. */
export function requestExample({ parameters = [], requestBody }: Operation): RequestExample {
  const given = (place: string) =>
    Object.fromEntries(
      parameters.filter(({ in: at, required }) => at === place && required).map(({ name, example }) => [name, example]),
    )
  return { path: given('path'), query: given('query'), body: requestBody?.content[JSON_TYPE]?.example }
}

/** An object gets only its required fields. Throws an Error for a required text without an example. */
function exampleOf(schema: Schema, schemas: Record<string, Schema>, operation: Operation): unknown {
  const { $ref, example, allOf, type, properties = {}, required = [], items, minimum } = schema
  const part = (of: Schema) => exampleOf(of, schemas, operation)
  if (example !== undefined) return example
  const named = $ref === undefined ? undefined : schemas[$ref.slice($ref.lastIndexOf('/') + 1)]
  const [choice] = schema.oneOf ?? schema.anyOf ?? []
  const instead = named ?? choice
  if (instead !== undefined) return part(instead)
  const value = schema.const ?? schema.default ?? schema.enum?.[0]
  if (value !== undefined) return value
  if (allOf !== undefined) return Object.assign({}, ...allOf.map(part))
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(properties).flatMap(([name, of]) => (required.includes(name) ? [[name, part(of)]] : [])),
      )
    case 'array':
      return items === undefined ? [] : [part(items)]
    case 'integer':
    case 'number':
      return minimum ?? 1
    case 'boolean':
      return true
    default:
      throw new Error(`${operation.operationId} requires a value without an example: ${JSON.stringify(schema)}`)
  }
}
