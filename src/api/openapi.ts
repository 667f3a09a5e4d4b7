/** Generates the OpenAPI 3.1 document from the same schemas that validate requests. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { EVENT_TYPES } from './event-types.ts'
import { DETECTION, deliveryHeaders, webhookPayload } from './events.ts'
import { api } from './index.ts'
import { ERRORS, type ErrorStatus, errorExample, RESPONSE_HEADERS } from './responses.ts'
import type { AnyRoute } from './route.ts'

export const INTERFACE_VERSION = '2.0.0'

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
  return generator.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version: INTERFACE_VERSION,
      description:
        'Blockchain Operations Service API: token launches and related operations on Solana. Successful answers are `{ data, meta }`, failures `{ error, meta }`. Amounts are digit strings in raw units.',
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
    ].map((name) => ({ name })),
  })
}
