/** What waits for approvals: the flags that change it, and its words. */

import { SIGNED_OPERATIONS, type SignedOperation } from '../../src/api/signed-operations.ts'
import type { SignerState } from '../../src/api/signer.ts'
import { DAY_SECONDS, WEEKDAYS } from '../../src/platform/timing.ts'
import { solText } from '../../src/solana/amounts.ts'
import { LAMPORT_DECIMALS, rawUnits } from '../cli/amounts.ts'
import { integer, listOf, text } from '../cli/command.ts'
import { usage } from '../ui/problem.ts'

type Approvals = NonNullable<NonNullable<SignerState['policy']>['approvals']>
type Rules = Approvals['rules']
type Hours = NonNullable<Rules['hours']>

export const APPROVAL_FLAGS = {
  approvals: text('Approvals that what waits needs, or off', { placeholder: 'N|off' }),
  approved_by: listOf('Who may approve, or all', { placeholder: 'ADDR,…' }),
  approved_within: integer('Seconds until a proposal expires', { min: 60, max: 2_592_000, placeholder: 'SECONDS' }),
  approved_per_transaction: text('Most SOL in one transaction with approvals, or none', { placeholder: 'SOL' }),
  approved_per_day: text('Most SOL in any 24 hours with approvals, or none', { placeholder: 'SOL' }),
  approved_token: listOf('The same for mints, in raw units, or none', { placeholder: 'MINT:TX:DAY,…' }),
  wait: listOf('What waits: destination, authority, delegate, power, close, operations; or none', {
    placeholder: 'RULE,…',
  }),
  hours: text('Everything waits outside these hours: mon-fri/09:00-17:00/ZONE; or any', { placeholder: 'HOURS' }),
}

export interface ApprovalFlags {
  approvals?: string | undefined
  approved_by?: readonly string[] | undefined
  approved_within?: number | undefined
  approved_per_transaction?: string | undefined
  approved_per_day?: string | undefined
  approved_token?: readonly string[] | undefined
  wait?: readonly string[] | undefined
  hours?: string | undefined
}

const WAITING = ['destination', 'authority', 'delegate', 'power', 'close'] as const

const NOTHING_WAITS: Rules = {
  lamports_per_transaction: null,
  lamports_per_day: null,
  tokens: [],
  destination: false,
  authority: false,
  delegate: false,
  power: false,
  close: false,
  operations: [],
  hours: null,
}

/** The field `approvals` of a request, or undefined if no flag changes it. */
export function approvalChanges(flags: ApprovalFlags, current: Approvals | null): Approvals | null | undefined {
  if (!(Object.keys(APPROVAL_FLAGS) as (keyof ApprovalFlags)[]).some((name) => flags[name] !== undefined))
    return undefined
  if (flags.approvals === 'off') return null
  const needed = flags.approvals === undefined ? current?.needed : Number(flags.approvals)
  if (needed === undefined) {
    throw usage('nothing waits yet: say with --approvals how many approvals it needs', { param: '--approvals' })
  }
  if (!Number.isInteger(needed) || needed < 1 || needed > 16) {
    throw usage(`--approvals must be a number from 1 to 16, or off, not "${flags.approvals}"`, { param: '--approvals' })
  }
  const { approved_by, approved_within } = flags
  return {
    needed,
    approvers:
      approved_by === undefined ? (current?.approvers ?? null) : approved_by.join() === 'all' ? null : [...approved_by],
    expires_in: approved_within ?? current?.expires_in ?? DAY_SECONDS,
    rules: ruleChanges(flags, current?.rules ?? NOTHING_WAITS),
  }
}

function ruleChanges(flags: ApprovalFlags, rules: Rules): Rules {
  const { approved_per_transaction, approved_per_day, approved_token, wait, hours } = flags
  return {
    ...rules,
    lamports_per_transaction: ceiling(
      approved_per_transaction,
      rules.lamports_per_transaction,
      '--approved-per-transaction',
    ),
    lamports_per_day: ceiling(approved_per_day, rules.lamports_per_day, '--approved-per-day'),
    tokens: approved_token === undefined ? rules.tokens : tokenCeilings(approved_token),
    ...(wait === undefined ? {} : waitingRules(wait)),
    hours: hours === undefined ? rules.hours : hours === 'any' ? null : hoursOf(hours),
  }
}

const ceiling = (sol: string | undefined, current: string | null, flag: string): string | null =>
  sol === undefined ? current : sol === 'none' ? null : String(rawUnits(sol, LAMPORT_DECIMALS, flag))

function tokenCeilings(items: readonly string[]): Rules['tokens'] {
  return items.join() === 'none' ? [] : items.map((item) => tokenLimitOf(item, '--approved-token'))
}

function waitingRules(names: readonly string[]): Partial<Rules> {
  const wanted = names.join() === 'none' ? [] : names
  const known: readonly string[] = [...WAITING, ...SIGNED_OPERATIONS]
  const unknown = wanted.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw usage(`--wait does not know "${unknown}"`, { param: '--wait', next: `use ${known.join(', ')} or none` })
  }
  return {
    ...Object.fromEntries(WAITING.map((rule) => [rule, wanted.includes(rule)])),
    operations: SIGNED_OPERATIONS.filter((operation): operation is SignedOperation => wanted.includes(operation)),
  }
}

/** Reads `mon-fri/09:00-17:00/Europe/Berlin`; the API checks times and zone. */
function hoursOf(text: string): Hours {
  const match = /^([a-z,-]+)\/([0-9:]+)-([0-9:]+)\/(.+)$/.exec(text)
  const days = match?.[1]?.split(',').flatMap(daysOf)
  if (match === null || days === undefined || days.some((day) => day === undefined)) {
    throw usage(`--hours must be DAYS/FROM-TO/ZONE, such as mon-fri/09:00-17:00/Europe/Berlin, not "${text}"`, {
      param: '--hours',
    })
  }
  const [, , from = '', to = '', timezone = ''] = match
  return { days: [...new Set(days as Hours['days'])], from, to, timezone }
}

function daysOf(range: string): (Hours['days'][number] | undefined)[] {
  const [first = '', last = first, more] = range.split('-')
  const places: readonly string[] = WEEKDAYS
  const [from, to] = [places.indexOf(first), places.indexOf(last)]
  if (from < 0 || to < 0 || more !== undefined) return [undefined]
  const count = ((to - from + WEEKDAYS.length) % WEEKDAYS.length) + 1
  return Array.from({ length: count }, (_, i) => WEEKDAYS[(from + i) % WEEKDAYS.length])
}

/** Fields for a terminal; empty if nothing waits. */
export function approvalFields(approvals: Approvals | null): [string, string][] {
  if (approvals === null) return []
  const { needed, approvers, expires_in, rules } = approvals
  const { lamports_per_transaction, lamports_per_day, tokens, operations, hours } = rules
  const upTo = [
    ...(lamports_per_transaction === null ? [] : [`${solText(lamports_per_transaction)} a transaction`]),
    ...(lamports_per_day === null ? [] : [`${solText(lamports_per_day)} a day`]),
    ...tokens.map(({ mint, per_transaction, per_day }) => `${per_transaction} and ${per_day} raw units of ${mint}`),
  ]
  const waiting = [...WAITING.filter((rule) => rules[rule]), ...operations]
  return [
    ['approvals', `${needed} of ${approvers === null ? 'all approvers' : approvers.join(' ')}, within ${expires_in} s`],
    ...(upTo.length === 0 ? [] : [['with approvals', `up to ${upTo.join(', ')}`] as [string, string]]),
    ...(waiting.length === 0 ? [] : [['waits', waiting.join(', ')] as [string, string]]),
    ...(hours === null
      ? []
      : [
          ['waits outside', `${hours.days.join(', ')} ${hours.from}-${hours.to} ${hours.timezone}`] as [string, string],
        ]),
  ]
}

// Reads the limits of a mint as flags write them: `MINT:UNITS_PER_TRANSACTION:UNITS_PER_DAY`.

export type TokenLimit = NonNullable<SignerState['policy']>['tokens'][number]

/** Throws a usage error that names the flag. */
export function tokenLimitOf(item: string, flag: string): TokenLimit {
  const [mint, per_transaction = '', per_day = '', more] = item.split(':')
  const areWhole = [per_transaction, per_day].every((units) => /^\d+$/.test(units))
  if (mint && areWhole && more === undefined) return { mint, per_transaction, per_day }
  throw usage(`${flag} must be MINT:UNITS_PER_TRANSACTION:UNITS_PER_DAY in raw units, not "${item}"`, { param: flag })
}
