/** Shows one operation: what it does, what it takes and answers, its errors, and a request in each language. */
import { html } from 'hono/html'
import {
  type CodeSample,
  type ErrorSample,
  type OperationSamples,
  type PlacedOperation,
  referenceName,
  resolveSchema,
  type ShownDocument,
  type ShownExample,
  type ShownParameter,
  type ShownSchema,
} from './document.ts'
import { field, fieldsBelow, typeWords } from './fields.ts'
import { errorId, inline, type Markup, NOTHING, paragraphs } from './prose.ts'
import { sampleValue } from './sample-values.ts'

const JSON_CONTENT = 'application/json'

/** The section of an operation, to which `#<operationId>` leads. */
export function operationSection(
  document: ShownDocument,
  operation: PlacedOperation,
  samples: OperationSamples,
): Markup {
  const { operationId, method, path, summary, description } = operation
  return html`<section class="entry operation" id="${operationId}" data-kind="${method}" data-title="${path}">
<h3><a href="#${operationId}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${breakable(path)}</code></a></h3>
<p class="summary">${inline(summary)}</p>
<div class="columns"><div>
${description === undefined ? NOTHING : paragraphs(description)}
${access(operation)}
${parameters(operation, 'path', 'Path')}
${parameters(operation, 'query', 'Query')}
${body(operation)}
${answers(document, operation)}
${errors(document, operation, samples.errors)}
</div><div>
${requestSamples(samples.requests)}
${answerSample(document, operation)}
</div></div>
</section>
`
}

/** A path that may be broken after each slash. */
const breakable = (path: string) => html`${path.split('/').map((part, at) => (at === 0 ? part : html`/<wbr>${part}`))}`

function access({ security, 'x-scopes': scopes = {}, parameters: all = [] }: PlacedOperation): Markup {
  const facts: Markup[] = []
  if (security?.length === 0) facts.push(html`No key is needed.`)
  else if (scopes.always !== undefined)
    facts.push(html`<a href="#keys">Key</a> with the scope <code>${scopes.always}</code>.`)
  else facts.push(html`Any <a href="#keys">key</a>.`)
  if (scopes.signed === 'refused') facts.push(html`Only your wallet can sign: <code>mode: signed</code> is refused.`)
  else if (scopes.signed !== undefined)
    facts.push(html`<code>mode: signed</code> needs the scope <code>${scopes.signed}</code>.`)
  if (all.some(({ name }) => name === 'idempotency-key'))
    facts.push(html`Takes an <a href="#idempotency"><code>Idempotency-Key</code></a>.`)
  return html`<p class="access">${facts.map((fact) => html`${fact} `)}</p>`
}

function parameters({ parameters: all = [] }: PlacedOperation, place: ShownParameter['in'], title: string): Markup {
  const own = all.filter((parameter) => parameter.in === place)
  if (own.length === 0) return NOTHING
  return html`<h4>${title}</h4><ul class="fields">${own.map(({ name, schema, required, description }) =>
    field(name, schema, required === true, description ?? schema.description),
  )}</ul>`
}

function body({ requestBody }: PlacedOperation): Markup {
  const schema = requestBody?.content[JSON_CONTENT]?.schema
  if (requestBody === undefined || schema === undefined) return NOTHING
  const types = Object.keys(requestBody.content).map((type) => html` <code>${type}</code>`)
  return html`<h4>Body <small>${types}</small></h4>${schema.$ref === undefined ? NOTHING : html`<p>${typeWords(schema)}</p>`}${fieldsBelow(schema)}`
}

/** The schema of `data` in a successful answer. */
function dataSchema(document: ShownDocument, schema: ShownSchema | undefined): ShownSchema | undefined {
  return schema === undefined ? undefined : resolveSchema(document, schema).properties?.data
}

const successes = ({ responses }: PlacedOperation) =>
  Object.entries(responses).filter(([status]) => status.startsWith('2'))

function answers(document: ShownDocument, operation: PlacedOperation): Markup {
  return html`${successes(operation).map(([status, { description, content }]) => {
    const data = dataSchema(document, content?.[JSON_CONTENT]?.schema)
    const more = description === 'Success' ? NOTHING : html` ${inline(description)}`
    return html`<h4>Answer <small>${status}</small></h4><p><code>data</code>: ${data === undefined ? 'nothing' : typeWords(data)}.${more}</p>${data === undefined ? NOTHING : fieldsBelow(data)}`
  })}`
}

const exampleOf = (document: ShownDocument, example: ShownExample): ShownExample | undefined =>
  example.$ref === undefined ? example : document.components.examples?.[referenceName(example.$ref)]

/** Errors that are the same for every operation; all others are shown only where the operation has one of its own. */
const SHARED_ERRORS = ['401', '409', '429', '500']

function errors(
  document: ShownDocument,
  { operationId, responses }: PlacedOperation,
  own: OperationSamples['errors'],
): Markup {
  const items = Object.entries(responses)
    .filter(([status]) => !status.startsWith('2'))
    .map(([status, { description, content }]) => {
      const [named] = Object.values(content?.[JSON_CONTENT]?.examples ?? {})
      const shared =
        named === undefined
          ? undefined
          : (exampleOf(document, named)?.value as { error: ErrorSample } | undefined)?.error
      const shown = own[status] ?? (SHARED_ERRORS.includes(status) ? shared : undefined)
      const code = shown?.code ?? shared?.code
      return html`<li><a href="#${code === undefined ? 'errors' : errorId(code)}"><b>${status}</b> <code>${code ?? ''}</code></a> ${inline(description)}${shown === undefined ? NOTHING : errorSample(shown)}</li>`
    })
  if (items.length === 0) return NOTHING
  return html`<details id="${operationId}-errors"><summary>Errors</summary><ul class="fields">${items}</ul></details>`
}

/** What differs from one error to the next; the whole answer stands among the errors. */
function errorSample({ message, param, details }: ErrorSample): Markup {
  const shown = { message, ...(param === undefined ? {} : { param }), ...(details === undefined ? {} : { details }) }
  return html`<pre tabindex="0">${JSON.stringify(shown, null, 1)}</pre>`
}

/** The requests, one beside the other; the script of the page shows one language at a time. */
function requestSamples(all: readonly CodeSample[]): Markup {
  if (all.length === 0) return NOTHING
  return html`<div class="samples"><div class="languages" role="group" aria-label="Language of the request">${all.map(
    ({ label }) => html`<button type="button" data-language="${label}">${label}</button>`,
  )}<button type="button" class="copy">Copy</button></div>${all.map(
    ({ label, source }) => html`<pre tabindex="0" data-sample="${label}" aria-label="${label}">${source}</pre>`,
  )}</div>
`
}

function answerSample(document: ShownDocument, operation: PlacedOperation): Markup {
  const [first] = successes(operation)
  if (first === undefined) return NOTHING
  const [status, { content }] = first
  const json = content?.[JSON_CONTENT]
  if (json?.schema === undefined) return NOTHING
  const [named] = Object.values(json.examples ?? {}).map((example) => exampleOf(document, example)?.value)
  const value = json.example ?? named ?? sampleValue(document, json.schema)
  return html`<p class="caption">Answer, ${status}</p><pre tabindex="0" aria-label="Answer">${JSON.stringify(value, null, 1)}</pre>`
}
