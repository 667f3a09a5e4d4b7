/** The conventions of all operations, for the description of the OpenAPI document. */
import { ERRORS } from './responses.ts'

const errors = Object.entries(ERRORS).map(
  // The error's `doc_url` links to this anchor.
  ([status, { code, description, remedy }]) =>
    `| <a id="error-${code}"></a>\`${code}\` | ${status} | ${description} | ${remedy} |`,
)

/** Markdown; the last section has an anchor for each error, such as `#error-not_found`. */
export const CONVENTIONS = `Token launches and related operations on Solana.

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
