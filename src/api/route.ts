/** `defineRoute`: one declaration per endpoint, from which validation, OpenAPI, the client and the access rules come. */
import { createRoute, z } from '@hono/zod-openapi'
import { errorSchema, listMetaSchema, metaSchema } from './envelope.ts'
import type { HttpMethod, RoutePath } from './paths.ts'
import { ERRORS, type ErrorStatus, responseHeaders } from './responses.ts'

export const SCOPES = ['*', 'fees:claim', 'airdrop:admin', 'airdrop:write', 'storage:delegate'] as const
export type Scope = (typeof SCOPES)[number]

type Empty = z.ZodObject<Record<never, never>>

export interface RouteDefinition<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodObject,
  D extends z.ZodType,
> {
  at: RoutePath
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
  /** Its body may be as large as `body-limit-mib`, any other as `json-limit-kib`. */
  large?: true
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
  method: HttpMethod
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

const requestHeaders = z.object({
  'x-request-id': z
    .string()
    .regex(/^[!-~]{1,128}$/)
    .optional()
    .meta({ description: 'Up to 128 visible ASCII characters, echoed in X-Request-Id and meta.request_id' }),
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
  const told = { write, open: definition.public === true }
  const success = (status: number, description: string) => ({
    description,
    headers: responseHeaders(status, told),
    content: {
      'application/json': { schema: z.object({ data, meta: definition.list ? listMetaSchema : metaSchema }) },
    },
  })
  const failure = (status: ErrorStatus) => ({
    description: ERRORS[status].description,
    headers: responseHeaders(status, told),
    content: {
      'application/json': {
        schema: errorSchema,
        examples: { [ERRORS[status].code]: { $ref: `#/components/examples/${ERRORS[status].code}` } },
      },
    },
  })
  const json = definition.body ? { 'application/json': { schema: definition.body } } : undefined
  const multipart =
    definition.multipart && definition.body ? { 'multipart/form-data': { schema: definition.body } } : undefined
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
      // Where multipart is taken as well, saying so would have the library ask both of one request.
      ...(json ? { body: { content: { ...json, ...multipart }, ...(multipart ? {} : { required: true }) } } : {}),
    },
    responses: {
      [definition.status ?? 200]: success(definition.status ?? 200, 'Success'),
      ...(definition.unstored ? { 200: success(200, definition.unstored) } : {}),
      ...Object.fromEntries(errorStatuses(definition.at, told).map((status) => [status, failure(status)])),
    },
  })
  return { ...definition, method, path, openapi } as Route<P, Q, B, D> & { list: L }
}

/** How a call can fail: anybody's, one with a key, one that names a record, one that changes something. */
function errorStatuses([, path]: RoutePath, { write, open }: { write: boolean; open: boolean }): ErrorStatus[] {
  return [
    400,
    ...(open ? [] : ([401, 403, 429] as const)),
    ...(path.includes('{') || write ? ([404] as const) : []),
    ...(write ? ([409] as const) : []),
    500,
  ]
}

function operationId([method, path]: RoutePath): string {
  const words = path
    .replace('/v2/', '')
    .split('/')
    .filter(Boolean)
    .flatMap((part) => part.replace(/[{}]/g, '').split('-'))
  return [method, ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')
}
