/** `svc events verify`: compares the stored events with the chain, step by step. */

import type { EventVerification } from '../../src/api/events.ts'
import { paths } from '../../src/api/paths.ts'
import { required, text, verb } from '../cli/command.ts'
import { eachStep } from '../cli/pages.ts'
import { counted } from '../ui/words.ts'

const TIME = { placeholder: 'TIME' }

export const verifyStoredEvents = verb({
  about: 'Compare stored events with the chain, and name what is missing or extra',
  details:
    'Reads the transactions of every followed account between the two moments, and the events that were stored between them. Exit code 1 if something is missing, extra, or could not be read.',
  calls: [paths.events.verify],
  flags: {
    since: required(text('Beginning of the range, ISO 8601 or Unix seconds', TIME)),
    until: text('End of the range (default: now)', TIME),
  },
  examples: [
    'svc events verify --since 2026-11-21T00:00:00Z',
    'svc events verify --since 2026-11-21T00:00:00Z --until 2026-11-22T00:00:00Z --json',
  ],
  async run({ since, until }, { client, clock }) {
    // Every step compares the same range.
    const range = { since, until: until ?? new Date(clock.now()).toISOString() }
    const found: Compared = { accounts: 0, transactions: 0, events: 0, missing: [], unread: [], extra: [] }
    await eachStep(async (from) => {
      const { data } = await client.events.verify({ ...range, ...from })
      found.accounts += data.accounts
      found.transactions += data.transactions
      found.events += data.events
      found.missing.push(...data.missing)
      found.unread.push(...data.unread)
      found.extra.push(...data.extra)
      return data.next_cursor
    })
    return { data: found, text: reportOf(found), ...(isWhole(found) ? {} : { exitCode: 1 }) }
  },
})

interface Compared {
  accounts: number
  transactions: number
  events: number
  missing: EventVerification['missing']
  unread: EventVerification['unread']
  extra: EventVerification['extra']
}

const isWhole = ({ missing, unread, extra }: Compared) => missing.length + unread.length + extra.length === 0

function reportOf(found: Compared): string {
  const { accounts, transactions, events, missing, unread, extra } = found
  const compared = `Compared ${counted(accounts, 'account')}, ${counted(transactions, 'transaction')} and ${counted(events, 'event')}`
  if (isWhole(found)) return `${compared}: nothing is missing, and nothing is extra.`
  const lineOf = (
    what: string,
    { type, resource_type, resource_id, signature }: Compared['missing' | 'extra'][number],
  ) => `${what} ${type} ${resource_type} ${resource_id} ${signature}`
  return [
    ...missing.map((each) => lineOf('missing', each)),
    ...unread.map(({ signature, slot }) => `unread transaction ${signature} of slot ${slot}`),
    ...extra.map((each) => `${lineOf('extra', each)} ${each.reason}`),
    `${compared}: ${missing.length} missing, ${unread.length} unread, ${extra.length} extra.`,
  ].join('\n')
}
