/** The flags of an airdrop's times: when locked amounts vest, and when what is left can be withdrawn. */
import { CLAWBACK_DAYS, PROPOSED_START_DAYS } from '../../src/api/airdrop-terms.ts'
import { calendarMoment, momentFault } from '../../src/platform/calendar.ts'
import { integer, text } from '../cli/command.ts'
import { previewLine } from '../signing/preview.ts'
import { usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'

export const TIME_FLAGS = {
  clawback_after_days: integer(`Days until what is left can be withdrawn (default ${CLAWBACK_DAYS.fallback})`, {
    min: CLAWBACK_DAYS.min,
    max: CLAWBACK_DAYS.max,
  }),
  starts_at: text(
    `For locked amounts: when they begin to vest, ISO 8601 (default in five minutes, in ${PROPOSED_START_DAYS} days with --squads)`,
    {
      placeholder: 'TIME',
      needs: ['ends_at'],
    },
  ),
  ends_at: text('For locked amounts: when all of them have vested, ISO 8601', { placeholder: 'TIME' }),
}

/** Times in ISO 8601; a flag that was not given is left out. */
export interface VestingTimes {
  starts_at?: string
  ends_at?: string
}

/** Returns the times in UTC. Throws a usage problem naming the flag. */
export function vestingOf({
  starts_at,
  ends_at,
}: {
  starts_at?: string | undefined
  ends_at?: string | undefined
}): VestingTimes {
  return {
    ...(starts_at === undefined ? {} : { starts_at: isoMoment(starts_at, '--starts-at') }),
    ...(ends_at === undefined ? {} : { ends_at: isoMoment(ends_at, '--ends-at') }),
  }
}

/** Throws a usage problem if a list with locked amounts has no end, or if a list without them has one. */
export function requireVestingFits({ ends_at }: VestingTimes, totalLocked: string): void {
  if (totalLocked !== '0' && ends_at === undefined) {
    throw usage('the list has locked amounts: say when all of them have vested', {
      param: '--ends-at',
      next: 'for example --ends-at 2027-12-31T00:00:00Z',
    })
  }
  if (totalLocked === '0' && ends_at !== undefined) {
    throw usage('no amount of the list is locked, so nothing vests', {
      param: '--ends-at',
      next: 'leave it out, or add a column `locked` to the list',
    })
  }
}

/** The line of a preview that says when locked amounts vest; none without. */
export const vestingLines = ({ starts_at, ends_at }: VestingTimes, isProposed = false): string[] =>
  ends_at === undefined
    ? []
    : [
        previewLine(
          'vests',
          `from ${starts_at !== undefined ? timeText(starts_at) : isProposed ? `${PROPOSED_START_DAYS} days on` : 'five minutes on'} to ${timeText(ends_at)}`,
        ),
      ]

/**
 * A date without a time is its beginning in UTC. A time needs a zone, because it would be another moment on each
 * machine.
 */
function isoMoment(given: string, flag: string): string {
  const at = calendarMoment(given)
  if (at !== null) return new Date(at).toISOString()
  const wanted = 'a time in ISO 8601 with a zone, such as 2027-12-31T00:00:00Z'
  throw usage(`${flag} ${momentFault(given, wanted)}`, { param: flag })
}
