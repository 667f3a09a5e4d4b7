/** Makes the reference page, one file of HTML that needs no script to be read, from the OpenAPI document. */
import { html } from 'hono/html'
import { conventions } from './conventions.ts'
import {
  type OperationSamples,
  operationsOf,
  type PlacedOperation,
  type ShownDocument,
  type ShownSchema,
} from './document.ts'
import { fieldsBelow, typeWords } from './fields.ts'
import { operationSection } from './operation.ts'
import { errorId, inline, type Markup, NOTHING, paragraphs, schemaId, tagId } from './prose.ts'

const NO_SAMPLES: OperationSamples = { requests: [], errors: {} }

/**
 * The page of this document, for the version of svc that serves it; `samples` stand by method and path, as
 * `get /v2/pools`.
 */
export function referencePage(
  document: ShownDocument,
  version: string,
  samples: ReadonlyMap<string, OperationSamples> = new Map(),
): string {
  const operations = operationsOf(document)
  const tags = document.tags
    .map(({ name, description }) => ({
      name,
      description,
      operations: operations.filter(({ tags: [first] }) => first === name),
    }))
    .filter((tag) => tag.operations.length > 0)
  // Paths are relative to /v2/docs, so that a proxy may put the whole below another one.
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>svc API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="../assets/docs/page.css">
<script src="../assets/docs/page.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the reference</a>
<header>
<a class="brand" href="#content">svc <small>${version}</small></a>
<div class="search" role="search">
<input id="search" type="search" role="combobox" placeholder="Search operations, fields, errors  ( / )" aria-label="Search" aria-controls="results" aria-expanded="false" aria-autocomplete="list" autocomplete="off" spellcheck="false" disabled>
<ul id="results" class="results" role="listbox" aria-label="Results" hidden></ul>
</div>
<button type="button" id="theme" hidden>Theme</button>
<a class="contents" href="#contents">Contents</a>
</header>
<div class="layout">
<nav id="contents" aria-label="Contents">
${contents(tags, document)}
</nav>
<main id="content" tabindex="-1">
<h1>svc API</h1>
${paragraphs(document.info.description ?? '')}
<p>For programs: <a href="openapi.json">openapi.json</a>.</p>
${conventions}
${tags.map(
  (tag) => html`<section class="group" aria-labelledby="${tagId(tag.name)}">
<h2 id="${tagId(tag.name)}"><a href="#${tagId(tag.name)}">${tag.name}</a></h2>
${tag.description === undefined ? NOTHING : paragraphs(tag.description)}
${tag.operations.map((operation) =>
  operationSection(
    document,
    operation,
    samples.get(`${operation.method.toLowerCase()} ${operation.path}`) ?? NO_SAMPLES,
  ),
)}
</section>
`,
)}
${events(document)}
${errors(document)}
${schemas(document)}
</main>
</div>
</body>
</html>
`)
}

interface ShownTag {
  name: string
  operations: PlacedOperation[]
}

function contents(tags: ShownTag[], { webhooks = {} }: ShownDocument): Markup {
  return html`<ul>
<li><a href="#keys">Keys and scopes</a></li>
<li><a href="#answers">Answers</a></li>
<li><a href="#transactions">Transactions</a></li>
<li><a href="#idempotency">Idempotency</a></li>
<li><a href="#pages">Pages of a list</a></li>
<li><a href="#errors">Errors</a></li>
</ul>
${tags.map(
  ({ name, operations }) => html`<p><a href="#${tagId(name)}">${name}</a></p>
<ul>${operations.map(
    ({ operationId, method, summary }) =>
      html`<li><a href="#${operationId}"><span class="method ${method.toLowerCase()}">${method}</span> ${inline(summary)}</a></li>
`,
  )}</ul>
`,
)}
<p><a href="#event-types">Event types</a></p>
<ul>${Object.keys(webhooks).map(
    (type) => html`<li><a href="#event-${type}">${type}</a></li>
`,
  )}</ul>
<p><a href="#schemas">Schemas</a></p>`
}

/** What is sent to webhooks: one body for all types, and what each type tells. */
function events({ webhooks = {} }: ShownDocument): Markup {
  return html`<section class="group" aria-labelledby="event-types">
<h2 id="event-types"><a href="#event-types">Event types</a></h2>
<p>What happened is told once, at <a href="#getEvents"><code>GET /v2/events</code></a> and to <a href="#${tagId('Webhook subscriptions')}">webhook subscriptions</a>, as a <a href="#${schemaId('WebhookPayload')}">WebhookPayload</a>. A delivery is signed in <code>X-Service-Signature</code>.</p>
${Object.entries(webhooks).map(
  ([type, { post }]) => html`<section class="entry event" id="event-${type}" data-kind="event" data-title="${type}">
<h3><a href="#event-${type}"><code>${type}</code></a></h3>
${paragraphs(post?.description ?? post?.summary ?? '')}
</section>
`,
)}</section>
`
}

interface WholeError {
  error: { code: string }
}

function errors({ components: { examples = {} } }: ShownDocument): Markup {
  const all = Object.values(examples).filter(({ value }) => (value as Partial<WholeError> | undefined)?.error?.code)
  return html`<section class="group" aria-labelledby="errors">
<h2 id="errors"><a href="#errors">Errors</a></h2>
<p>Every failure has this shape, whatever the route. <code>code</code> is for programs, <code>message</code> for people, <code>param</code> names the field, and <code>doc_url</code> leads here.</p>
${all.map(({ summary, value }) => {
  const { code } = (value as WholeError).error
  return html`<section class="entry error" id="${errorId(code)}" data-kind="error" data-title="${code}">
<h3><a href="#${errorId(code)}"><code>${code}</code></a></h3>
${paragraphs(summary ?? '')}
<pre tabindex="0" aria-label="Answer">${JSON.stringify(value, null, 1)}</pre>
</section>
`
})}</section>
`
}

function schemas(document: ShownDocument): Markup {
  return html`<section class="group" aria-labelledby="schemas">
<h2 id="schemas"><a href="#schemas">Schemas</a></h2>
${Object.entries(document.components.schemas).map(
  ([name, schema]) => html`<section class="entry schema" id="${schemaId(name)}" data-kind="schema" data-title="${name}">
<h3><a href="#${schemaId(name)}">${name}</a></h3>
${schemaBody(schema)}
</section>
`,
)}</section>
`
}

function schemaBody(schema: ShownSchema): Markup {
  const about = schema.description === undefined ? NOTHING : paragraphs(schema.description)
  return html`${about}<p class="type">${typeWords(schema)}</p>${fieldsBelow(schema)}`
}
