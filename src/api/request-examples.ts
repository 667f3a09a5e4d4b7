/** Gives each request of the OpenAPI document one complete example, built from the examples of its schemas. */

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
export function completeExamples({ paths, components: { schemas } }: DocumentWithRequests): void {
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
