/** Which webhook subscriptions this process has changed, so that nothing is sent to the receiver of before. */
import { onCommit } from '../writing/work.ts'

/** Changes that are remembered one by one; of older ones it is only known that there were some. */
const MOST_REMEMBERED = 10_000

const changedAt = new Map<string, number>()
let changes = 0
let forgottenUpTo = 0

/** The number of changes so far; to be taken before a subscription is read. */
export const changesSoFar = (): number => changes

/** Whether the subscription may have been changed by this process since that many changes. */
export const hasChangedSince = (id: string, count: number): boolean =>
  count < forgottenUpTo || (changedAt.get(id) ?? 0) > count

/** Tells of a change once the running write is committed, which is before anybody is told that it is made. */
export function tellOfChange(id: string): void {
  onCommit(() => {
    if (changedAt.size >= MOST_REMEMBERED) {
      changedAt.clear()
      forgottenUpTo = changes
    }
    changedAt.set(id, ++changes)
  })
}
