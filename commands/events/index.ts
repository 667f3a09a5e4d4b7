/** `svc events`: the events that are stored and delivered. */
import type { EventType } from '../../src/api/event-types.ts'
import type { EventRepair, EventVerification } from '../../src/api/events.ts'
import { paths } from '../../src/api/paths.ts'
import type { Client } from '../../src/client.ts'
import { type CommandInput, choiceOf, integer, type Noun, required, text, toggle, verb } from '../cli/command.ts'
import { eachStep } from '../cli/pages.ts'
import { listOutcome, listVerb, recordVerb } from '../cli/reads.ts'
import { counted } from '../ui/words.ts'
import { eventPosition, followEvents } from './follow.ts'
import { eventLine, openEventLines } from './lines.ts'

// `svc events verify`: compares the stored events with the chain, step by step, and repairs what is missing.

const TIME = { placeholder: 'TIME' }
/** A repaired record makes later transactions count. Each repair follows from the one before. */
const MOST_REPAIRS = 10

const verifyStoredEvents = verb({
  about: 'Compare stored events with the chain, and name what is missing or extra',
  details:
    'Reads the transactions of every followed account between the two moments, and the events that were stored between them. With --repair, each transaction with a missing event is read again, and its records, events and ledger entries are stored, each once. Exit code 1 if something is missing, extra, or could not be read.',
  calls: [paths.events.verify, paths.events.repair],
  flags: {
    since: required(text('Beginning of the range, ISO 8601 or Unix seconds', TIME)),
    until: text('End of the range (default: now)', TIME),
    repair: toggle('Read again what is missing on the chain, and store it'),
  },
  examples: [
    'svc events verify --since 2026-11-21T00:00:00Z',
    'svc events verify --since 2026-11-21T00:00:00Z --until 2026-11-22T00:00:00Z --json',
    'svc events verify --since 2026-11-21T00:00:00Z --repair',
  ],
  async run({ since, until, repair }, { client, clock }) {
    // Every step compares the same range.
    const range = { since, until: until ?? new Date(clock.now()).toISOString() }
    if (!repair) {
      const { repaired: _, ...found } = await compared(client.events.verify, range)
      return outcomeOf(found)
    }
    const repaired: EventRepair['repaired'] = []
    for (let pass = 1; ; pass++) {
      const found = await compared(client.events.repair, range)
      repaired.push(...found.repaired)
      if (found.repaired.length === 0 || pass === MOST_REPAIRS) return outcomeOf({ ...found, repaired })
    }
  },
})

type Compare = Client['events']['verify' | 'repair']

/** Takes every step to the end. Only a repair names what it has repaired. */
async function compared(
  step: Compare,
  range: { since: string; until: string },
): Promise<Compared & Pick<EventRepair, 'repaired'>> {
  const found = {
    accounts: 0,
    transactions: 0,
    events: 0,
    ...({ missing: [], unread: [], extra: [], repaired: [] } as Pick<
      EventRepair,
      'missing' | 'unread' | 'extra' | 'repaired'
    >),
  }
  await eachStep(async (from) => {
    const { data }: { data: EventVerification & Partial<EventRepair> } = await step({ ...range, ...from })
    found.accounts += data.accounts
    found.transactions += data.transactions
    found.events += data.events
    found.missing.push(...data.missing)
    found.unread.push(...data.unread)
    found.extra.push(...data.extra)
    found.repaired.push(...(data.repaired ?? []))
    return data.next_cursor
  })
  return found
}

function outcomeOf({ repaired, ...found }: Compared & Partial<Pick<EventRepair, 'repaired'>>) {
  const data = repaired === undefined ? found : { ...found, repaired }
  return { data, text: reportOf(found, repaired), ...(isWhole(found) ? {} : { exitCode: 1 }) }
}

interface Compared {
  accounts: number
  transactions: number
  events: number
  missing: EventVerification['missing']
  unread: EventVerification['unread']
  extra: EventVerification['extra']
}

const isWhole = ({ missing, unread, extra }: Compared) => missing.length + unread.length + extra.length === 0

function reportOf(found: Compared, repaired: EventRepair['repaired'] = []): string {
  const { accounts, transactions, events, missing, unread, extra } = found
  const compared = `Compared ${counted(accounts, 'account')}, ${counted(transactions, 'transaction')} and ${counted(events, 'event')}`
  const lineOf = (
    what: string,
    { type, resource_type, resource_id, signature }: Compared['missing' | 'extra'][number],
  ) => `${what} ${type} ${resource_type} ${resource_id} ${signature}`
  return [
    ...repaired.map((each) => lineOf('repaired', each)),
    ...missing.map((each) => lineOf('missing', each)),
    ...unread.map(({ signature, slot }) => `unread transaction ${signature} of slot ${slot}`),
    ...extra.map((each) => `${lineOf('extra', each)} ${each.reason}`),
    ...(repaired.length === 0
      ? []
      : [`Repaired ${counted(repaired.length, 'event')}, with records and ledger entries.`]),
    isWhole(found)
      ? `${compared}: nothing is missing, and nothing is extra.`
      : `${compared}: ${missing.length} missing, ${unread.length} unread, ${extra.length} extra.`,
  ].join('\n')
}

// `svc events watch`: new events as they happen, until Ctrl-C.

const watchEvents = verb({
  about: 'Follow new events until stopped',
  details:
    'Looks every second. With -o json and -o plain every event is one line of JSON. It waits through lost connections and restarts of the daemon, and reports them on stderr; no event is missed or repeated.',
  calls: [paths.events.list],
  flags: {
    type: text('Only those of this type; `svc events types` lists them') as CommandInput<EventType | undefined>,
    resource_type: text('Only those of this kind of resource', { placeholder: 'KIND' }),
    resource_id: text('Only those of this resource', { placeholder: 'ID' }),
    since: integer('Start after the event of this sequence, 0 for all (default: with new events)', {
      min: 0,
      placeholder: 'SEQ',
    }),
  },
  examples: ['svc events watch', 'svc events watch --type pool.live --since 0 --json'],
  async run({ since, ...filters }, session) {
    const lines = await openEventLines(session)
    const position = await eventPosition(session.client, filters, since ?? 'now')
    session.ui.stream()
    session.ui.note(`Following the events after sequence ${position.sequence}; Ctrl-C ends this.`)
    for await (const { event } of followEvents(session, filters, position)) lines.print(event, eventLine(event))
    return { data: undefined }
  },
})

export const eventsNoun: Noun = {
  aliases: { tail: 'watch' },
  verbs: {
    list: listVerb({
      about: 'List stored events, newest first',
      at: paths.events.list,
      filters: {
        type: text('Only those of this type; `svc events types` lists them') as CommandInput<EventType | undefined>,
        resource_type: text('Only those of this kind of resource', { placeholder: 'KIND' }),
        resource_id: text('Only those of this resource', { placeholder: 'ID' }),
        created_after: text('Only those after this moment, ISO 8601 or Unix seconds', { placeholder: 'TIME' }),
        order: choiceOf(['asc', 'desc'], 'Order (default desc)', {
          asc: 'oldest first, to follow new ones by cursor',
          desc: 'newest first',
        }),
      },
      examples: ['svc events list', 'svc events list --type pool.live --order asc --all'],
      columns: ['sequence', 'id', 'type', 'created', 'data'],
      table: (events) => ({
        columns: ['sequence', 'id', 'type', 'created', 'resource_id'],
        rows: events.map(({ sequence, id, type, created, data }) => [
          ...[sequence, id, type, created, data.object.resource_id],
        ]),
      }),
      call: (client, query) => client.events.list(query),
    }),
    get: recordVerb({
      about: 'Read one event',
      at: paths.events.get,
      args: { id: required(text('Id of the event')) },
      examples: ['svc events get evt_0Mh4sPqY7tLx2RzKc9BvDn6G', 'svc events get evt_0Mh4sPqY7tLx2RzKc9BvDn6G --json'],
      call: (client, input) => client.events.get(input),
    }),
    watch: watchEvents,
    verify: verifyStoredEvents,
    types: verb({
      about: 'List every event type and how it is detected',
      calls: [paths.service.eventTypes],
      examples: ['svc events types', 'svc events types -o plain'],
      run: async (_, { client }) => listOutcome((await client.service.eventTypes()).data, ['type', 'detection']),
    }),
  },
}
