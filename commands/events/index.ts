/** `svc events`: the events that are stored and delivered. */
import type { EventType } from '../../src/api/event-types.ts'
import { paths } from '../../src/api/paths.ts'
import { type CommandInput, choiceOf, integer, type Noun, required, text, verb } from '../cli/command.ts'
import { listOutcome, listVerb, recordVerb } from '../cli/reads.ts'
import { eventPosition, followEvents } from './follow.ts'
import { eventLine, openEventLines } from './lines.ts'
import { verifyStoredEvents } from './verify.ts'

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
