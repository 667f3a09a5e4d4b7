/** `svc events`: the events that are stored and delivered. */
import type { EventType } from '../../src/api/event-types.ts'
import { paths } from '../../src/api/paths.ts'
import { type CommandInput, choiceOf, type Noun, required, text, verb } from '../cli/command.ts'
import { listOutcome, listVerb, recordVerb } from '../cli/reads.ts'
import { verifyStoredEvents } from './verify.ts'
import { watchEvents } from './watch.ts'

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
