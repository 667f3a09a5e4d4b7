/** `defineRoute`: one declaration per endpoint, from which validation, OpenAPI, the client and the access rules come. */
import { createRoute, z } from '@hono/zod-openapi'
import { errorSchema, listMetaSchema, metaSchema } from './envelope.ts'
import type { At, Method } from './paths.ts'

export const SCOPES = ['*', 'fees:claim', 'airdrop:admin', 'airdrop:write', 'storage:delegate'] as const
export type Scope = (typeof SCOPES)[number]

type Empty = z.ZodObject<Record<never, never>>

export interface RouteDefinition<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodObject,
  D extends z.ZodType,
> {
  at: At
  tag: string
  summary: string
  description?: string
  /** Path parameters, one string each. */
  params?: P
  query?: Q
  /** Strict object made by `writeBody`; every write has one. */
  body?: B
  /** Multipart is accepted beside JSON: makes the JSON body of a form's fields, in which files are base64 strings. */
  multipart?: (fields: Readonly<Record<string, string>>) => Record<string, unknown>
  /** The operation reads and validates the raw bytes itself; `body` only documents them. */
  raw?: true
  /** Shape of `data`; for a list, of one item. */
  data: D
  list?: true | undefined
  status?: 200 | 201
  /** When a route of status 201 answers 200, in words: nothing new is stored. */
  unstored?: string
  /** No bearer key is needed. */
  public?: true
  /** Scope that every call needs. */
  scope?: Scope
  /** What `mode: signed` needs; `refused` where only the user's wallet may sign. Absent: the route has no mode and ignores it. */
  signed?: 'refused' | Scope
}

export interface Route<
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodObject = z.ZodObject,
  D extends z.ZodType = z.ZodType,
> extends RouteDefinition<P, Q, B, D> {
  method: Method
  path: string
  openapi: ReturnType<typeof createRoute>
}

// biome-ignore lint/suspicious/noExplicitAny: any route whatever its schemas
export type AnyRoute = Route<any, any, any, any>

/** One page of a list, newest first; `next_cursor` is null on the last. */
export interface Page<T> {
  items: T[]
  next_cursor: string | null
}

/** A schema without fields adds nothing to the object. */
type Out<S> = S extends z.ZodObject<infer Shape> ? (keyof Shape extends never ? unknown : z.output<S>) : unknown
type In<S> = S extends z.ZodObject<infer Shape> ? (keyof Shape extends never ? unknown : z.input<S>) : unknown

/** What an operation is given: path, query and body in one flat object. */
export type Input<R extends AnyRoute> = Out<NonNullable<R['params']>> &
  Out<NonNullable<R['query']>> &
  Out<NonNullable<R['body']>>
/** What a caller gives. */
export type CallInput<R extends AnyRoute> = In<NonNullable<R['params']>> &
  In<NonNullable<R['query']>> &
  In<NonNullable<R['body']>>
export type Data<R extends AnyRoute> = z.output<R['data']>
/** What an operation gives back: the data, or a page of it. */
export type Result<R extends AnyRoute> = R extends { list: true } ? Page<Data<R>> : Data<R>

const ERRORS: Record<number, string> = {
  400: 'Invalid input or a violated business rule; `param` names the field',
  401: 'The bearer key is missing or malformed',
  403: 'The key is invalid or revoked, lacks a scope, or would change what another key made',
  404: 'The resource exists neither on chain nor in storage',
  409: 'The Idempotency-Key was used with another request, or that request is still in progress',
  429: 'The per-minute or per-day quota of the key is exceeded',
  500: 'Unhandled fault; retriable',
}

const requestHeaders = z.object({
  'x-request-id': z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'Echoed in X-Request-Id and meta.request_id' }),
})
const writeHeaders = requestHeaders.extend({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'Makes a retry of this write safe; a v4 UUID is recommended' }),
})

/** Declares an endpoint; see `src/api/pools.ts` for an example. */
export function defineRoute<
  D extends z.ZodType,
  P extends z.ZodObject = Empty,
  Q extends z.ZodObject = Empty,
  B extends z.ZodObject = Empty,
  const L extends true | undefined = undefined,
>(definition: Omit<RouteDefinition<P, Q, B, D>, 'list'> & { list?: L }): Route<P, Q, B, D> & { list: L } {
  const [method, path] = definition.at
  const write = method !== 'get'
  const data = definition.list ? z.array(definition.data) : definition.data
  const statuses = [400, ...(definition.public ? [] : [401, 403]), ...(path.includes('{') || write ? [404] : [])]
    .concat(write ? [409] : [])
    .concat(definition.public ? [500] : [429, 500])
  const success = (description: string) => ({
    description,
    content: {
      'application/json': { schema: z.object({ data, meta: definition.list ? listMetaSchema : metaSchema }) },
    },
  })
  const json = definition.body ? { 'application/json': { schema: definition.body } } : undefined
  const multipart =
    definition.multipart && definition.body ? { 'multipart/form-data': { schema: definition.body } } : {}
  const openapi = createRoute({
    method,
    path,
    operationId: operationId(definition.at),
    tags: [definition.tag],
    summary: definition.summary,
    ...(definition.description ? { description: definition.description } : {}),
    ...(definition.public ? { security: [] } : { security: [{ bearer: [] }] }),
    ...(definition.scope || definition.signed
      ? {
          'x-scopes': {
            ...(definition.scope ? { always: definition.scope } : {}),
            ...(definition.signed ? { signed: definition.signed } : {}),
          },
        }
      : {}),
    request: {
      ...(definition.params ? { params: definition.params } : {}),
      ...(definition.query ? { query: definition.query } : {}),
      headers: write ? writeHeaders : requestHeaders,
      ...(json ? { body: { content: { ...json, ...multipart } } } : {}),
    },
    responses: {
      [definition.status ?? 200]: success('Success'),
      ...(definition.unstored ? { 200: success(definition.unstored) } : {}),
      ...Object.fromEntries(
        [...new Set(statuses)].map((status) => [
          status,
          { description: ERRORS[status]!, content: { 'application/json': { schema: errorSchema } } },
        ]),
      ),
    },
  })
  return { ...definition, method, path, openapi } as Route<P, Q, B, D> & { list: L }
}

function operationId([method, path]: At): string {
  const words = path
    .replace('/v2/', '')
    .split('/')
    .filter(Boolean)
    .flatMap((part) => part.replace(/[{}]/g, '').split('-'))
  return [method, ...words.map((word) => word[0]!.toUpperCase() + word.slice(1))].join('')
}
