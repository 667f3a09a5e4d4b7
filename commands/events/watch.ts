/** `svc events watch`: new events as they happen, until Ctrl-C. */
import type { EventType } from '../../src/api/event-types.ts'
import { paths } from '../../src/api/paths.ts'
import { type CommandInput, integer, text, verb } from '../cli/command.ts'
import { eventPosition, followEvents } from './follow.ts'
import { eventLine, openEventLines } from './lines.ts'

export const watchEvents = verb({
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
