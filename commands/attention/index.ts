/** `svc attention`: what needs a person, and what can wait until a time. */
import type { AttentionItem } from '../../src/api/attention.ts'
import { ATTENTION_KINDS } from '../../src/api/attention-kinds.ts'
import { paths } from '../../src/api/paths.ts'
import { choiceOf, type Noun, required, requiredUnless, text, toggle, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { isoOf, requireMomentFrom } from '../cli/typed-times.ts'
import { timeText } from '../ui/times.ts'

const at = paths.attention

const FILTERS = {
  kind: choiceOf(ATTENTION_KINDS, 'Only of this kind'),
  subject: text('Only what concerns this id or address', { placeholder: 'ID' }),
  snoozed: toggle('Only snoozed items'),
}

const WHEN = { placeholder: 'WHEN', conflicts: ['end'] }
const TEXT = { placeholder: 'TEXT', conflicts: ['end'] }

const snooze = verb({
  about: 'Leave an item out of the list until a time',
  details:
    'The snooze ends at its time, and earlier if the cause disappears and begins anew. --end shows the item again. Each is an entry of the audit log.',
  calls: [at.snooze],
  args: { id: required(text('Id of the item, from `svc attention list`', { placeholder: 'ID' })) },
  flags: {
    until: requiredUnless('end', text('A time with a zone, a date, or a span such as 3d', WHEN)),
    reason: requiredUnless('end', text('Why it can wait', TEXT)),
    end: toggle('End its snooze'),
  },
  examples: [
    'svc attention snooze receiver_off.whs_4KcVn2Rt8LpXw6YbQm1Zs9Ha --until 3d --reason "moved on Friday"',
    'svc attention snooze receiver_off.whs_4KcVn2Rt8LpXw6YbQm1Zs9Ha --end',
  ],
  async run({ id, until, reason, end }, { client, clock }) {
    if (end || until === undefined) {
      const { data } = await client.attention.snooze({ id, until: null })
      return { data, text: `${id} is shown again.` }
    }
    const moment = isoOf(requireMomentFrom(until, '--until', BigInt(Math.floor(clock.now() / 1000))))
    const { data } = await client.attention.snooze({ id, until: moment, ...(reason === undefined ? {} : { reason }) })
    return { data, text: `${id} is left out until ${timeText(moment)}.` }
  },
})

export const attentionNoun: Noun = {
  verbs: {
    list: listVerb<AttentionItem, Record<never, never>, typeof FILTERS>({
      about: 'List what needs a person, oldest first',
      at: at.list,
      filters: FILTERS,
      examples: ['svc attention list', 'svc attention list --kind transaction_failed --json'],
      columns: ['since', 'id', 'ends_at', 'summary', 'command', 'snoozed_until', 'snooze_reason'],
      call: (client, { snoozed, ...query }) =>
        client.attention.list({ ...query, ...(snoozed ? { snoozed: 'true' as const } : {}) }),
    }),
    snooze,
  },
}
