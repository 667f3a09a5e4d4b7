/** `svc webhooks`: subscriptions, their delivery attempts, and their signing secrets. */
import type { EventType } from '../../src/api/event-types.ts'
import { paths } from '../../src/api/paths.ts'
import type { WebhookDelivery, WebhookSubscription } from '../../src/api/webhook-subscriptions.ts'
import { choiceOf, integer, listOf, type Noun, required, text, verb } from '../cli/command.ts'
import { listVerb, recordVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import type { Drawing } from '../ui/drawing.ts'
import { readBytes, readText } from '../ui/files.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { timeSpans } from '../ui/time-spans.ts'
import { counted } from '../ui/words.ts'
import { FILTER_FLAG, filterIn, filterText } from './filter.ts'
import { listenToEvents } from './listen.ts'
import { readSecrets } from './secret.ts'
import { checkSignatures, SIGNATURE_HEADERS } from './signature.ts'

// `svc webhooks verify`: checks whether a delivery was signed with a secret, and why it is not valid.

const HEADER_VALUE = { placeholder: 'VALUE' }

const verifyDelivery = verb({
  about: 'Check the signature of a delivery read from standard input',
  details:
    'The body must be the bytes as they came. Headers come from a file of `Name: value` lines or from flags; every signature among them must be right, and at most 5 minutes old. Exit 0 is valid, 1 is not.',
  flags: {
    secret_file: required(
      text('File (0600) with the signing secret; during a rotation every one that still signs, one per line', {
        placeholder: 'FILE',
      }),
    ),
    headers_file: text('File with the headers as they came, a line each', { placeholder: 'FILE' }),
    signature: text('Value of X-Service-Signature', HEADER_VALUE),
    webhook_id: text('Value of webhook-id', HEADER_VALUE),
    webhook_timestamp: text('Value of webhook-timestamp', HEADER_VALUE),
    webhook_signature: text('Value of webhook-signature', HEADER_VALUE),
  },
  examples: [
    'svc webhooks verify --secret-file secret --headers-file headers.txt < body.json',
    'svc webhooks verify --secret-file secret --signature "t=1795334400,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd" < body.json',
  ],
  async run({ secret_file, headers_file, signature, webhook_id, webhook_timestamp, webhook_signature }, { clock }) {
    const secrets = readSecrets(secret_file)
    const headers = {
      ...(headers_file === undefined ? {} : headersInText(await readText(headers_file))),
      ...headerField(SIGNATURE_HEADERS.service, signature),
      ...headerField(SIGNATURE_HEADERS.id, webhook_id),
      ...headerField(SIGNATURE_HEADERS.timestamp, webhook_timestamp),
      ...headerField(SIGNATURE_HEADERS.standard, webhook_signature),
    }
    if (headers[SIGNATURE_HEADERS.service] === undefined && headers[SIGNATURE_HEADERS.standard] === undefined) {
      throw usage('there is no signature to check', {
        next: 'give --headers-file, --signature, or --webhook-signature with --webhook-id and --webhook-timestamp',
      })
    }
    const body = await readBytes('-')
    const checks = checkSignatures(headers, body, secrets, clock.now())
    const valid = checks.every((check) => check.valid)
    const reason = checks.find((check) => !check.valid)?.reason ?? null
    const lines = checks.map(({ header, valid, reason, age_seconds }) =>
      valid ? `valid: ${header}, ${counted(age_seconds ?? 0, 'second')} old` : `invalid: ${header}: ${reason}`,
    )
    return {
      data: { valid, reason, signatures: checks },
      rows: {
        columns: ['header', 'valid', 'reason'],
        rows: checks.map(({ header, valid, reason }) => [header, valid, reason]),
      },
      text: lines.join('\n'),
      exitCode: valid ? EXIT.done : EXIT.failed,
    }
  },
})

const headerField = (name: string, value: string | undefined) => (value === undefined ? {} : { [name]: value })

/** Parses `Name: value` lines as tools print them; other lines, such as `POST /hooks HTTP/1.1`, are skipped. */
function headersInText(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).map((line) => /^[>< ]*([A-Za-z0-9-]+):\s*(.*?)\s*$/.exec(line) ?? [])
  return Object.fromEntries(
    lines.flatMap(([, name, value]) => (name && value !== undefined ? [[name.toLowerCase(), value]] : [])),
  )
}

const webhookPaths = paths.webhookSubscriptions
const SUBSCRIPTION_ID = { id: required(text('Id of the subscription')) }
const RECEIVER_URL = text('Where events are posted', { placeholder: 'URL' })
const ENABLED_EVENTS = 'Event types, or * for all; `svc events types` lists them'
const TYPES_VALUE = { placeholder: 'TYPE,…' }
const ENABLED_EVENTS_FLAG = listOf<EventType | '*'>(ENABLED_EVENTS, TYPES_VALUE)
const COMMITMENT_FLAG = choiceOf(
  ['confirmed', 'finalized'],
  'How final a transaction is before its event is delivered (default confirmed)',
  { finalized: 'no fork can undo it' },
)
const SECRET_ONCE = 'The secret is shown only once; keep it where the receiver reads it.'

export const webhooksNoun: Noun = {
  aliases: { subscribe: 'create' },
  verbs: {
    create: verb({
      about: 'Subscribe a URL to events; prints the signing secret, only once',
      calls: [webhookPaths.create],
      args: { receiver: text('Where events are posted (required, here or as --url)', { conflicts: ['url'] }) },
      flags: {
        url: RECEIVER_URL,
        events: listOf<EventType | '*'>(`${ENABLED_EVENTS}; required`, TYPES_VALUE),
        filter: FILTER_FLAG,
        commitment: COMMITMENT_FLAG,
      },
      examples: [
        'svc webhooks create https://example.com/hooks --events pool.live,airdrop.claimed',
        'svc webhooks create --url https://example.com/hooks --events pool.live --commitment finalized',
        "svc webhooks create https://example.com/hooks --events '*' --filter 'type=pool.*' --filter 'data.symbol=FIRST|SECOND'",
      ],
      async run({ receiver, url, events, filter, commitment }, { client, ui }) {
        const subscription = await subscriptionInput(ui, receiver ?? url, events)
        const { data } = await client.webhookSubscriptions.create({
          ...subscription,
          ...(filter === undefined ? {} : { filter: filterIn(filter) }),
          ...(commitment === undefined ? {} : { commitment }),
        })
        return { data, notes: [SECRET_ONCE] }
      },
    }),
    list: listVerb({
      about: 'List subscriptions, newest first',
      at: webhookPaths.list,
      filters: {
        active: choiceOf(['true', 'false'], 'Only active ones, or only the others', {
          true: 'active',
          false: 'the others',
        }),
      },
      examples: ['svc webhooks list', 'svc webhooks list --active true --json'],
      columns: [
        ...(['id', 'url', 'enabled_events', 'active', 'secret_preview', 'disabled_reason'] as const),
        ...(['last_status', 'failing_since', 'next_attempt_at'] as const),
      ],
      table: (items: readonly WebhookSubscription[]) => ({
        columns: ['id', 'url', 'events', 'filter', 'active', 'last_status', 'failing_since', 'next_attempt_at'],
        rows: items.map((each) => [
          ...[each.id, each.url, each.enabled_events, filterText(each), each.active],
          ...[each.last_status, each.failing_since, each.next_attempt_at],
        ]),
      }),
      notes: (items: readonly WebhookSubscription[]) => items.flatMap(switchedOff),
      call: (client, query) => client.webhookSubscriptions.list(query),
    }),
    get: verb({
      about: 'Read one subscription',
      calls: [webhookPaths.get],
      args: SUBSCRIPTION_ID,
      examples: [
        'svc webhooks get whs_3kFz8NcR5uJq2XwTa9VbM7Hd',
        'svc webhooks get whs_3kFz8NcR5uJq2XwTa9VbM7Hd --json',
      ],
      async run(input, { client }) {
        const { data } = await client.webhookSubscriptions.get(input)
        return { data, notes: switchedOff(data) }
      },
    }),
    update: verb({
      about: 'Change the URL, events or filter of a subscription, or switch it on or off',
      calls: [webhookPaths.update],
      args: SUBSCRIPTION_ID,
      flags: {
        url: RECEIVER_URL,
        events: ENABLED_EVENTS_FLAG,
        filter: FILTER_FLAG,
        active: choiceOf(['true', 'false'], 'Switch deliveries on or off', { true: 'on', false: 'off' }),
        commitment: COMMITMENT_FLAG,
      },
      needs: [['url', 'events', 'filter', 'active', 'commitment']],
      examples: [
        'svc webhooks update whs_3kFz8NcR5uJq2XwTa9VbM7Hd --active false',
        'svc webhooks update whs_3kFz8NcR5uJq2XwTa9VbM7Hd --url https://example.com/hooks --events pool.live',
        "svc webhooks update whs_3kFz8NcR5uJq2XwTa9VbM7Hd --filter 'data.creator=9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g'",
        'svc webhooks update whs_3kFz8NcR5uJq2XwTa9VbM7Hd --filter none',
      ],
      async run({ id, url, events, filter, active, commitment }, { client }) {
        const changes = {
          ...(url === undefined ? {} : { url }),
          ...(events === undefined ? {} : { enabled_events: events }),
          ...(filter === undefined ? {} : { filter: filterIn(filter) }),
          ...(active === undefined ? {} : { active: active === 'true' }),
          ...(commitment === undefined ? {} : { commitment }),
        }
        return { data: (await client.webhookSubscriptions.update({ id, ...changes })).data }
      },
    }),
    delete: verb({
      about: 'Remove a subscription',
      calls: [webhookPaths.delete],
      args: SUBSCRIPTION_ID,
      examples: [
        'svc webhooks delete whs_3kFz8NcR5uJq2XwTa9VbM7Hd',
        'svc webhooks delete whs_3kFz8NcR5uJq2XwTa9VbM7Hd --yes',
      ],
      async run({ id }, { client, ui }) {
        await ui.confirm(`Remove the subscription ${id}? Events will no longer be sent to its URL.`)
        return { data: (await client.webhookSubscriptions.delete({ id })).data, text: `Removed ${id}.` }
      },
    }),
    test: recordVerb({
      about: 'Send webhook.test_event to a subscription',
      at: webhookPaths.test,
      args: SUBSCRIPTION_ID,
      examples: [
        'svc webhooks test whs_3kFz8NcR5uJq2XwTa9VbM7Hd',
        'svc webhooks test whs_3kFz8NcR5uJq2XwTa9VbM7Hd --json',
      ],
      call: (client, input) => client.webhookSubscriptions.test(input),
    }),
    deliveries: listVerb({
      about: 'List every attempt to deliver, newest first',
      at: webhookPaths.deliveries,
      args: SUBSCRIPTION_ID,
      filters: { status: choiceOf(['succeeded', 'failed'], 'Only attempts that succeeded, or that failed') },
      examples: [
        'svc webhooks deliveries whs_3kFz8NcR5uJq2XwTa9VbM7Hd',
        'svc webhooks deliveries whs_3kFz8NcR5uJq2XwTa9VbM7Hd --status failed --limit 5 --json',
        'svc webhooks deliveries whs_3kFz8NcR5uJq2XwTa9VbM7Hd --all --plot',
      ],
      columns: ['id', 'event_id', 'attempt', 'status', 'response_code', 'duration_ms', 'error', 'next_attempt_at'],
      draw: deliveriesDrawing,
      call: (client, query) => client.webhookSubscriptions.deliveries(query),
    }),
    delivery: recordVerb({
      about: 'Read one attempt, with what was sent and what was answered',
      at: webhookPaths.delivery,
      args: {
        ...SUBSCRIPTION_ID,
        delivery_id: required(text('Id of the attempt, as `svc webhooks deliveries` lists it')),
      },
      examples: [
        'svc webhooks delivery whs_3kFz8NcR5uJq2XwTa9VbM7Hd whd_0Mh4sPqY7tLx2RzKc9BvDn6G',
        'svc webhooks delivery whs_3kFz8NcR5uJq2XwTa9VbM7Hd whd_0Mh4sPqY7tLx2RzKc9BvDn6G --json',
      ],
      call: (client, input) => client.webhookSubscriptions.delivery(input),
    }),
    stats: recordVerb({
      about: 'Count the attempts of the last 24 hours, and how long the receiver took',
      at: webhookPaths.stats,
      args: SUBSCRIPTION_ID,
      examples: [
        'svc webhooks stats whs_3kFz8NcR5uJq2XwTa9VbM7Hd',
        'svc webhooks stats whs_3kFz8NcR5uJq2XwTa9VbM7Hd --json',
      ],
      call: (client, input) => client.webhookSubscriptions.stats(input),
    }),
    replay: verb({
      about: 'Deliver events again: those named, or all since a time',
      calls: [webhookPaths.replay],
      args: SUBSCRIPTION_ID,
      flags: {
        events: listOf('Ids of the events', { placeholder: 'ID,…', field: 'event_ids' }),
        since: text('All events since then, ISO 8601 or Unix seconds', { placeholder: 'TIME', conflicts: ['events'] }),
      },
      needs: [['events', 'since']],
      examples: [
        'svc webhooks replay whs_3kFz8NcR5uJq2XwTa9VbM7Hd --since 2026-11-21T00:00:00Z',
        'svc webhooks replay whs_3kFz8NcR5uJq2XwTa9VbM7Hd --events evt_0Mh4sPqY7tLx2RzKc9BvDn6G',
      ],
      async run({ id, events, since }, { client }) {
        const which = events === undefined ? { since: since ?? '' } : { event_ids: events }
        return { data: (await client.webhookSubscriptions.replay({ id, ...which })).data }
      },
    }),
    rotate: verb({
      about: 'Replace the signing secret; prints the new one, only once',
      calls: [webhookPaths.rotateSecret],
      args: SUBSCRIPTION_ID,
      flags: {
        overlap_hours: integer(
          'Hours in which the old secret also signs (default 24); at most five old ones do, and 0 ends all of them now',
          { min: 0, max: 168 },
        ),
      },
      examples: [
        'svc webhooks rotate whs_3kFz8NcR5uJq2XwTa9VbM7Hd',
        'svc webhooks rotate whs_3kFz8NcR5uJq2XwTa9VbM7Hd --overlap-hours 48',
      ],
      async run({ id, overlap_hours }, { client }) {
        const overlap = overlap_hours === undefined ? {} : { overlap_hours }
        const { data } = await client.webhookSubscriptions.rotateSecret({ id, ...overlap })
        return { data, notes: [SECRET_ONCE] }
      },
    }),
    listen: listenToEvents,
    verify: verifyDelivery,
  },
}

/** The command that switches a subscription on again. */
const switchedOff = ({ id, active }: WebhookSubscription): string[] =>
  active ? [] : [`${id} gets no events until \`svc webhooks update ${id} --active true\``]

/**
 * The URL may be an argument or a flag, so neither can be declared as required; missing inputs are prompted for here.
 */
async function subscriptionInput(ui: Session['ui'], url: string | undefined, events: (EventType | '*')[] | undefined) {
  const missing = [...(url === undefined ? ['--url'] : []), ...(events === undefined ? ['--events'] : [])]
  const [first] = missing
  if (first !== undefined && !ui.interactive) {
    throw usage(`missing ${missing.join(', ')}`, {
      param: first,
      next: '`svc webhooks create --help` shows what it takes',
    })
  }
  const check = (answer: string) => (answer.trim() === '' ? 'This is required' : undefined)
  const receiver = url ?? (await ui.ask({ message: 'Where events are posted', check }))
  const types = events ?? ((await ui.ask({ message: ENABLED_EVENTS, check })).split(',') as EventType[])
  return { url: receiver, enabled_events: types.map((type) => type.trim() as EventType | '*') }
}

// Draws the attempts to deliver over time: how many were taken, and how many failed.

const OUTCOMES = ['succeeded', 'failed', 'pending'] as const

/** Null without attempts. */
export function deliveriesDrawing(attempts: readonly WebhookDelivery[]): Drawing | null {
  const spans = timeSpans(attempts.map(({ created_at }) => Date.parse(created_at)).filter(Number.isFinite))
  if (spans === null) return null
  const counts = Array.from({ length: spans.count }, () => OUTCOMES.map(() => 0))
  for (const { created_at, status } of attempts) {
    const span = counts[spans.placeOf(Date.parse(created_at))]
    const outcome = OUTCOMES.indexOf(status)
    if (span !== undefined && outcome >= 0) span[outcome] = (span[outcome] ?? 0) + 1
  }
  const most = Math.max(1, ...counts.map((span) => span.reduce((sum, count) => sum + count, 0)))
  const used = OUTCOMES.filter((name, i) => name !== 'pending' || counts.some((span) => (span[i] ?? 0) > 0))
  return {
    kind: 'bars',
    names: used,
    bars: counts.map((span) => span.slice(0, used.length).map((count) => count / most)),
    labels: {
      title: `Attempts each ${spans.name} (UTC)${durationText(attempts)}`,
      highest: String(most),
      lowest: '0',
      first: spans.first,
      last: spans.count > 1 ? spans.last : '',
    },
  }
}

/** The median of the answers' times; nothing if no attempt was answered. */
function durationText(attempts: readonly WebhookDelivery[]): string {
  const durations = attempts.flatMap(({ duration_ms }) => duration_ms ?? []).sort((a, b) => a - b)
  const median = durations[Math.floor(durations.length / 2)]
  return median === undefined ? '' : `, half of them within ${median} ms`
}
