/** Defines `defineRoute`: one declaration per endpoint for validation, OpenAPI, the client and the access rules. */
import { createRoute, z } from '@hono/zod-openapi'
import { storedMetadata } from './metadata.ts'
import { ERRORS, type ErrorStatus, responseHeaders } from './responses.ts'

type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete'
export type RoutePath = readonly [HttpMethod, string]

export const SCOPES = ['*', 'fees:claim', 'airdrop:admin', 'airdrop:write', 'storage:delegate'] as const
export type Scope = (typeof SCOPES)[number]

/** A group of operations in the document, and what they are about. */
export interface Tag {
  name: string
  description: string
}

type Empty = z.ZodObject<Record<never, never>>

/** Writes raw units of the token that a request names, as people read them. */
export type Units = (raw: string | bigint) => Promise<string>

interface RouteDefinition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodObject, D extends z.ZodType> {
  at: RoutePath
  tag: Tag
  summary: string
  /** What the summary does not say, in whole sentences. */
  description: string
  /** Path parameters, each a string. */
  params?: P
  query?: Q
  /** Strict object created by `writeBody`; every write has one. */
  body?: B
  /** Fields of the body's example in addition to the required ones. */
  example?: Partial<z.input<NoInfer<B>>>
  /**
   * Converts the fields of a form to the JSON body, with files as base64 strings; if set, multipart is accepted as
   * well as JSON.
   */
  multipart?: (fields: Readonly<Record<string, string>>) => Record<string, unknown>
  /** Limits the body by `body-limit-mib` instead of `json-limit-kib`. */
  large?: true
  /** The operation parses and validates the raw bytes itself; `body` is only documentation. */
  raw?: true
  /** Schema of `data`; for a list, of one item. */
  data: D
  list?: true | undefined
  status?: 200 | 201
  /** Describes when a route with status 201 returns 200 because nothing new is stored. */
  unstored?: string
  /**
   * The operation changes nothing outside its one commit, so its Idempotency-Key is claimed in that commit too: before
   * it there is nothing that a retry would have to find.
   */
  atomic?: true
  /** Every call is a dry run: nothing is stored, not even an answer for its Idempotency-Key. */
  dry?: true
  /** The route requires no API key. */
  public?: true
  /** Scope that every call requires. */
  scope?: Scope
  /**
   * Scope that `mode: signed` requires; `refused` if only the user's wallet may sign. Without it, the route ignores
   * `mode`.
   */
  signed?: 'refused' | Scope
  /** Every call is signed by the platform wallet, so that it may wait for approvals. */
  waits?: true
  /** The field of path or body with the wallet that pays and signs. With it, a pay request may name the route. */
  payable?: string
  /** What a request does, in one sentence for the members of a multisig; by default the summary. */
  says?(input: Out<P> & Out<Q> & Out<B>, units: Units): string | Promise<string>
}

interface Route<
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

/** One page of a list, newest first; `next_cursor` is null on the last page. */
export interface Page<T> {
  items: T[]
  next_cursor: string | null
}

/** Output of a schema; one without fields adds nothing to the intersection. */
type Out<S> = S extends z.ZodObject<infer Shape> ? (keyof Shape extends never ? unknown : z.output<S>) : unknown
type In<S> = S extends z.ZodObject<infer Shape> ? (keyof Shape extends never ? unknown : z.input<S>) : unknown

/** Input of an operation: path, query and body merged into one object. */
export type Input<R extends AnyRoute> = Out<NonNullable<R['params']>> &
  Out<NonNullable<R['query']>> &
  Out<NonNullable<R['body']>>
/** Input of a client's call, before parsing. */
export type CallInput<R extends AnyRoute> = In<NonNullable<R['params']>> &
  In<NonNullable<R['query']>> &
  In<NonNullable<R['body']>>
export type Data<R extends AnyRoute> = z.output<R['data']>
/** Result of an operation: the data, or a page of it. */
export type Result<R extends AnyRoute> = R extends { list: true } ? Page<Data<R>> : Data<R>

/**
 * Declares an endpoint, from which validation, OpenAPI, client and access rules follow.
 *
 * @example
 * get: defineRoute({
 *   at: ['get', '/v2/stakes/{asset}'],
 *   tag: STAKES_TAG,
 *   summary: 'Read one stake from the chain',
 *   description: 'Whether the asset is frozen and who owns it now.',
 *   params: z.object({ asset: address }),
 *   data: stake,
 * })
 */
export function defineRoute<
  D extends z.ZodType,
  P extends z.ZodObject = Empty,
  Q extends z.ZodObject = Empty,
  B extends z.ZodObject = Empty,
  const L extends true | undefined = undefined,
>(definition: Omit<RouteDefinition<P, Q, B, D>, 'list'> & { list?: L }): Route<P, Q, B, D> & { list: L } {
  const [method, path] = definition.at
  let described: Route['openapi'] | undefined
  const route = {
    ...definition,
    method,
    path,
    // Only the document needs it, so it is not built when the daemon or a command starts.
    get openapi() {
      described ??= describeRoute(definition)
      return described
    },
  }
  return route as unknown as Route<P, Q, B, D> & { list: L }
}

/** The route in the OpenAPI document. */
function describeRoute(definition: RouteDefinition<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType>) {
  const [method, path] = definition.at
  const write = method !== 'get'
  const { proposedSchema, metaSchema, listMetaSchema, errorSchema, requestHeaders, writeHeaders } = documentSchemas()
  const data = definition.list ? z.array(definition.data) : definition.data
  const responseKind = { write, open: definition.public === true }
  const success = (status: number, description: string) => ({
    description,
    headers: responseHeaders(status, responseKind),
    content: {
      'application/json': { schema: z.object({ data, meta: definition.list ? listMetaSchema : metaSchema }) },
    },
  })
  const failure = (status: ErrorStatus) => ({
    description: ERRORS[status].description,
    headers: responseHeaders(status, responseKind),
    content: {
      'application/json': {
        schema: errorSchema,
        examples: { [ERRORS[status].code]: { $ref: `#/components/examples/${ERRORS[status].code}` } },
      },
    },
  })
  const { body, example } = definition
  const isStored = definition.status === 201
  const unstored = [
    ...(definition.unstored ? [definition.unstored] : []),
    ...(body !== undefined && 'dry_run' in body.shape ? ['With `dry_run: true`: nothing is stored'] : []),
  ]
  const json = body ? { 'application/json': { schema: body, ...(example ? { example } : {}) } } : undefined
  const multipart =
    definition.multipart && definition.body ? { 'multipart/form-data': { schema: definition.body } } : undefined
  return createRoute({
    method,
    path,
    operationId: operationId(definition.at),
    tags: [definition.tag.name],
    summary: definition.summary,
    description: [definition.description, ...access(definition)].join(' '),
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
      ...(json ? { body: { content: { ...json, ...multipart }, required: hasRequiredField(definition.body) } } : {}),
    },
    responses: {
      [definition.status ?? 200]: success(definition.status ?? 200, 'Success'),
      ...(isSigned(definition)
        ? {
            202: {
              description: 'With `mode: signed`: the policy demands approvals first, and nothing is signed yet',
              headers: responseHeaders(202, responseKind),
              content: { 'application/json': { schema: z.object({ data: proposedSchema, meta: metaSchema }) } },
            },
          }
        : {}),
      ...(isStored && unstored.length > 0 ? { 200: success(200, unstored.join('. ')) } : {}),
      ...Object.fromEntries(errorStatuses(definition.at, responseKind).map((status) => [status, failure(status)])),
    },
  })
}

/** Whether the platform wallet may sign for it, so that the policy may demand approvals. */
const isSigned = ({
  signed,
  waits,
}: Pick<RouteDefinition<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType>, 'signed' | 'waits'>) =>
  waits === true || (signed !== undefined && signed !== 'refused')

/** Says which key the operation needs, in sentences; empty if any key will do. */
function access({
  public: open,
  scope,
  signed,
}: Pick<RouteDefinition<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType>, 'public' | 'scope' | 'signed'>): string[] {
  return [
    ...(open ? ['No API key is needed.'] : []),
    ...(scope ? [`The key needs the scope \`${scope}\`.`] : []),
    ...(signed === 'refused' ? ['Only your wallet can sign: `mode: signed` is refused.'] : []),
    ...(signed && signed !== 'refused' ? [`\`mode: signed\` needs the scope \`${signed}\`.`] : []),
  ]
}

const hasRequiredField = (body: z.ZodObject | undefined) =>
  Object.values(body?.shape ?? {}).some((field) => !(field as z.ZodType).safeParse(undefined).success)

/**
 * Returns the possible error statuses: those of all routes, of authenticated ones, of those that name a record, and of
 * writes.
 */
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

// Schemas that only the OpenAPI document needs: envelopes of answers, headers of requests. Made on first use.

let made: ReturnType<typeof makeSchemas> | undefined

export const documentSchemas = () => {
  made ??= makeSchemas()
  return made
}

function makeSchemas() {
  const metaSchema = z
    .object({
      request_id: z.string(),
      external_uid: z.string().optional(),
      metadata: storedMetadata.optional(),
    })
    .openapi('Meta')

  const listMetaSchema = z
    .object({
      request_id: z.string(),
      has_more: z.boolean(),
      next_cursor: z.string().nullable(),
      count: z.int().min(0),
    })
    .openapi('ListMeta')

  const errorSchema = z
    .object({
      error: z.object({
        code: z.enum([
          'bad_request',
          'unauthorized',
          'forbidden',
          'not_found',
          'conflict',
          'rate_limited',
          'internal_error',
        ]),
        message: z.string(),
        param: z.string().optional(),
        details: z.record(z.string(), z.unknown()).optional(),
        doc_url: z.string().optional(),
      }),
      meta: z.object({ request_id: z.string() }),
    })
    .openapi('Error')

  const proposedSchema = z
    .object({
      mode: z.literal('proposed'),
      proposal: z
        .looseObject({ id: z.string(), status: z.string(), next: z.string().nullable() })
        .meta({ description: 'The whole proposal, as GET /v2/proposals/{id} answers it' }),
    })
    .openapi('WaitsForApproval')

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
      .meta({ description: 'Makes it safe to retry this write; a v4 UUID is recommended' }),
  })

  return { proposedSchema, metaSchema, listMetaSchema, errorSchema, requestHeaders, writeHeaders }
}
