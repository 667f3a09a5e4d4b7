/** Rules that are checked before amounts: the transaction succeeds, and its movement is certain. */
import type { Movement } from '../movement/movement.ts'
import { OWN_KEY_ADVICE, type Violation } from './violation.ts'

export function checkSimulation({ err, logs }: Movement): Violation | null {
  if (err === null) return null
  const { program, message, hint } = err
  const what = `${program === null ? '' : `${program}: `}${err.name}: ${message}${hint === null ? '' : `; ${hint}`}`
  return { message: `the transaction would fail. ${what}. Build it again`, details: { error: err, logs } }
}

export function checkCertain({ stable, unread }: Movement): Violation | null {
  if (stable && unread.length === 0) return null
  const [first] = unread
  const why =
    first === undefined
      ? 'its accounts changed while it was read; build it again'
      : `${first.where}: ${first.reason}; ${OWN_KEY_ADVICE}`
  return { message: `the amounts that the transaction would move are uncertain: ${why}`, details: { unread } }
}
