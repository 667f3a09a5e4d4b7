/** The reference pages of events and errors, made from the catalogue of events, the schemas and the error codes. */
import { z } from '@hono/zod-openapi'
import { exitCodes } from '../commands/cli/command-tree.ts'
import { EXIT_BY_CODE } from '../commands/ui/problem.ts'
import { CLAIM_FAULTS } from '../src/api/airdrops.ts'
import { KEY_REFUSALS } from '../src/api/api-keys.ts'
import { EVENT_FAMILIES, familyOf, objectOf } from '../src/api/event-catalog.ts'
import { DETECTION, EVENT_TYPES, type EventType } from '../src/api/event-types.ts'
import { UNGUARDED_REASONS } from '../src/api/payloads.ts'
import { ERRORS, type ErrorStatus, errorExample } from '../src/api/responses.ts'
import { SIGNING_RULES } from '../src/api/signer.ts'
import { SPONSORSHIP_REFUSALS } from '../src/api/sponsorships.ts'
import { TOKEN_ACT_FAULTS } from '../src/api/token-acts.ts'
import { TRANSFER_FAULTS } from '../src/api/token-transfers.ts'
import { ADDRESS_FAULTS } from '../src/solana/bare-addresses.ts'

interface JsonSchema {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  items?: JsonSchema
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
}

const code = (text: string) => `\`${text}\``
const cell = (text: string) => text.replaceAll('|', '\\|')
const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

const WORDS: Record<string, string> = { string: 'text', integer: 'number', boolean: 'true or false' }

/** The type of a field in words. */
function typeText({ anyOf, const: value, enum: choices, type, items }: JsonSchema): string {
  if (anyOf !== undefined) return anyOf.map(typeText).join(' or ')
  if (value !== undefined) return code(String(value))
  if (choices !== undefined && choices.length <= 8) return choices.map((choice) => code(String(choice))).join(', ')
  if (type === 'array') return `list of ${typeText(items ?? {})}`
  return [type ?? 'any']
    .flat()
    .map((name) => WORDS[name] ?? name)
    .join(' or ')
}

const schemaOf = (object: z.ZodObject) => z.toJSONSchema(object, { unrepresentable: 'any', io: 'output' }) as JsonSchema

/** The rows of a family's fields; a field that only some of its events have names them. */
function fieldRows(types: readonly EventType[]): string[] {
  const schemas = types.map((event) => ({ event, ...schemaOf(objectOf(event)) }))
  const names = new Set(schemas.flatMap(({ properties = {} }) => Object.keys(properties)))
  return [...names].filter(isOwn).map((name) => {
    const having = schemas.filter(({ properties = {} }) => name in properties)
    const field = having[0]!.properties![name]!
    const about = field.description ?? field.anyOf?.[0]?.description
    const notes = [
      ...(about === undefined ? [] : [about]),
      ...(having.length === types.length ? [] : [`only in ${having.map(({ event }) => code(event)).join(', ')}`]),
    ]
    const isRequired = having.every(({ required = [] }) => required.includes(name))
    return `| ${code(name)} | ${typeText(field)}${isRequired ? '' : ', optional'} | ${cell(notes.join('; '))} |`
  })
}

/** Type and id of the resource are above the table. */
const isOwn = (name: string) => name !== 'resource_type' && name !== 'resource_id'

function familySection({ title, resourceType, resourceId, events, example }: (typeof EVENT_FAMILIES)[number]): string {
  const types = EVENT_TYPES.filter((type) => type in events)
  const rows = types.map((type) => `| ${code(type)} | ${events[type]!.when} | ${code(DETECTION[type])} |`)
  const { type, resource_id, object } = example
  const data = objectOf(type).parse({ resource_type: resourceType, resource_id, ...object })
  return [
    `## ${title}`,
    `${code('resource_type')} is ${code(resourceType)}, ${code('resource_id')} is ${resourceId}.`,
    `| Event | When | Detected |\n|---|---|---|\n${rows.join('\n')}`,
    `| Field of ${code('data.object')} | Type | Meaning |\n|---|---|---|\n${fieldRows(types).join('\n')}`,
    json({
      id: 'evt_0Mh4sPqY7tLx2RzKc9BvDn6G',
      type,
      api_version: '2.0',
      created: 1_795_262_400,
      data: { object: data },
      sequence: 42,
    }),
  ].join('\n\n')
}

const EVENTS = `# Events

Generated from the source by \`npm run docs\`; edit \`src/api/event-catalog.ts\`, not this file.

These are all events that \`GET /v2/events\` lists and that [webhooks](webhooks.md) deliver. \`svc events types\` prints their names. Around \`data.object\` every event has [the same fields](webhooks.md#deliveries).

| Detected | How |
|---|---|
| \`synchronous\` | written by the request itself |
| \`tx_confirmed\` | found in a confirmed transaction, whoever sent it |
| \`polling_required\` | found by a worker that reads accounts, some seconds later |

An event with \`source: "hint"\` repeats what \`related_events\` of a submission named, and nothing on chain proves it. It has the fields of the named resource's record, if there is one, with \`slot\` and \`signature\`.`

export function eventsPage(): string {
  for (const type of EVENT_TYPES) familyOf(type)
  return `${[EVENTS, ...EVENT_FAMILIES.map(familySection)].join('\n\n')}\n`
}

/** Lists of reasons in the details of an error, and the section that explains each of them. */
export const REASONS = [
  { what: 'An API key', field: 'details.reason', values: KEY_REFUSALS, at: 'api.md#keys-and-limits' },
  { what: 'A claim of an airdrop', field: 'details.reason', values: CLAIM_FAULTS, at: 'airdrop-reference.md#claiming' },
  {
    what: 'A sponsored claim',
    field: 'details.reason',
    values: SPONSORSHIP_REFUSALS,
    at: 'sponsored-claims.md#reasons',
  },
  {
    what: 'A recipient of a token transfer',
    field: 'details.reason',
    values: TRANSFER_FAULTS,
    at: 'token-lists.md#over-http',
  },
  {
    what: 'A wallet of an act on a token',
    field: 'details.reason',
    values: TOKEN_ACT_FAULTS,
    at: 'token-acts.md#what-is-refused',
  },
  {
    what: 'A proposal to a multisig',
    field: 'details.reason',
    values: ['proposal_open', 'execution_too_large'],
    at: 'approvals.md#by-a-multisig-from-the-command-line',
  },
  {
    what: 'Any other recipient or authority',
    field: 'details.reason',
    values: ADDRESS_FAULTS,
    at: 'api.md#recipients',
  },
  {
    what: 'Guards that are required',
    field: 'details.reason',
    values: UNGUARDED_REASONS,
    at: 'transactions.md#guards',
  },
  { what: 'A rule of the platform wallet', field: 'details.rule', values: SIGNING_RULES, at: 'signer.md#policy' },
] as const

/** The exit codes that no error has, with their meanings. */
function otherExitCodes(): string {
  const ofErrors = new Set(Object.values(EXIT_BY_CODE))
  const others = exitCodes().filter(({ code: exit }) => !ofErrors.has(exit))
  const texts = others.map(({ code: exit, meaning }) => `${exit} (${meaning})`)
  return `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`
}

export function errorsPage(): string {
  const statuses = Object.keys(ERRORS).map(Number) as ErrorStatus[]
  const rows = statuses.map((status) => {
    const { code: name } = ERRORS[status]
    return `| [${code(name)}](#${name}) | ${status} | ${EXIT_BY_CODE[name]} |`
  })
  const sections = statuses.map((status) => {
    const { code: name, description, remedy } = ERRORS[status]
    const fact = `HTTP status ${status}, exit code ${EXIT_BY_CODE[name]} of the command line.`
    return `## ${name}\n\n${description}. ${fact}\n\n**What to do:** ${remedy}.\n\n${json(errorExample(status))}`
  })
  const reasons = REASONS.map(
    ({ what, field, values, at }) => `| [${what}](${at}) | ${code(field)} | ${values.map(code).join(', ')} |`,
  )
  return `# Errors

Generated from the source by \`npm run docs\`; edit \`src/api/responses.ts\`, not this file.

Every failed request answers \`{ error, meta }\`. \`error.code\` is for programs, \`error.message\` for people. \`error.param\` names the field, \`error.details\` has figures and reasons, and \`meta.request_id\` finds the request in the log. \`error.doc_url\` leads to the row of the code in \`/v2/docs\`. A command of \`svc\` prints message, field and request id, and with \`--json\` the same envelope on stderr.

| Code | HTTP status | Exit code |
|---|---|---|
${rows.join('\n')}

The other exit codes are ${otherExitCodes()}.

${sections.join('\n\n')}

## Reasons

Some errors have a reason for programs in their details. The linked sections say what each one means.

| Refused | Field | Values |
|---|---|---|
${reasons.join('\n')}
`
}
