/** The parts of the OpenAPI document that the reference page shows. */

/** A schema of JSON Schema 2020-12, as far as the document uses it. */
export interface ShownSchema {
  $ref?: string
  type?: string | string[]
  description?: string
  example?: unknown
  default?: unknown
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  contentEncoding?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  minItems?: number
  maxItems?: number
  maxProperties?: number
  properties?: Record<string, ShownSchema>
  required?: string[]
  additionalProperties?: ShownSchema | boolean
  items?: ShownSchema
  oneOf?: ShownSchema[]
  anyOf?: ShownSchema[]
  allOf?: ShownSchema[]
}

export interface ShownParameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: ShownSchema
}

export interface ShownExample {
  $ref?: string
  summary?: string
  value?: unknown
}

interface Content {
  schema?: ShownSchema
  example?: unknown
  examples?: Record<string, ShownExample>
}

export interface ShownResponse {
  description: string
  content?: Record<string, Content>
}

/** A request of the operation in one language. */
export interface CodeSample {
  label: 'curl' | 'TypeScript' | 'svc'
  source: string
}

export interface ShownOperation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security?: unknown[]
  parameters?: ShownParameter[]
  requestBody?: { required?: boolean; content: Record<string, Content> }
  responses: Record<string, ShownResponse>
  'x-scopes'?: { always?: string; signed?: string }
}

type Methods = Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', ShownOperation>>

export interface ShownDocument {
  info: { title: string; version: string; description?: string }
  tags: { name: string; description?: string }[]
  paths: Record<string, Methods>
  webhooks?: Record<string, Methods>
  components: {
    schemas: Record<string, ShownSchema>
    examples?: Record<string, ShownExample>
  }
}

/** The `error` object of an answer; its `doc_url` follows from the code. */
export interface ErrorSample {
  code: string
  message: string
  param?: string
  details?: unknown
}

/** What the document does not say of an operation: its request in each language, and its own errors by their status. */
export interface OperationSamples {
  requests: readonly CodeSample[]
  errors: Readonly<Record<string, ErrorSample>>
}

/** An operation with where it stands. */
export interface PlacedOperation extends ShownOperation {
  method: string
  path: string
}

/** All operations of the paths in the order of the document. */
export function operationsOf(document: ShownDocument): PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )
}

/** The name at the end of a reference such as `#/components/schemas/Pool`. */
export const referenceName = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

/** The schema itself, where it is a reference to one. Throws an Error for a name that the document lacks. */
export function resolveSchema(document: ShownDocument, schema: ShownSchema): ShownSchema {
  if (schema.$ref === undefined) return schema
  const found = document.components.schemas[referenceName(schema.$ref)]
  if (found === undefined) throw new Error(`the document has no ${schema.$ref}`)
  return found
}
