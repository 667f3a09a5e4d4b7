/**
 * Tracks the webhook subscriptions that this process has changed, so that nothing more is sent to a former receiver.
 */
import { onCommit } from '../writing/work.ts'

/** Changes that are remembered individually; of older ones only the number is known. */
const MOST_REMEMBERED = 10_000

const changedAt = new Map<string, number>()
let changes = 0
let forgottenUpTo = 0

/** The number of changes so far; read it before reading a subscription. */
export const changesSoFar = (): number => changes

/** Whether this process may have changed the subscription since that number of changes. */
export const hasChangedSince = (id: string, count: number): boolean =>
  count < forgottenUpTo || (changedAt.get(id) ?? 0) > count

/** Records a change when the running write commits, before the caller gets its answer. */
export function tellOfChange(id: string): void {
  onCommit(() => {
    if (changedAt.size >= MOST_REMEMBERED) {
      changedAt.clear()
      forgottenUpTo = changes
    }
    changedAt.set(id, ++changes)
  })
}
