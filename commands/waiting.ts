/** Says what waits until somebody acts, and the command that lets it go on. */
import type { WaitingItem } from '../src/api/service.ts'
import type { Session } from './cli/session.ts'
import { timeText } from './ui/times.ts'

/** Switches a subscription on again. */
export const switchOn = (id: string) => `svc webhooks update ${id} --active true`

const TEXTS: Record<WaitingItem['kind'], (id: string) => { what: string; command: string }> = {
  migration: (id) => ({ what: `The migration of ${id}`, command: `svc pools migrate ${id}` }),
  fee_schedule: (id) => ({ what: `The fee schedule ${id}`, command: `svc fees schedule run ${id}` }),
  webhook: (id) => ({ what: `The webhook subscription ${id}`, command: switchOn(id) }),
}

/** One line for each item. */
export const waitingLines = (items: readonly WaitingItem[]): string[] =>
  items.map(({ kind, id, reason, next_try_at }) => {
    const { what, command } = TEXTS[kind](id)
    const next = next_try_at === null ? '' : `, and is tried again at ${timeText(next_try_at)}`
    return `${what} waits${next}: ${reason.replace(/\.$/, '')}. Then: \`${command}\``
  })

/** The lines for refused fee schedules; none if the workers may not be read. */
export async function refusedSchedules({ client }: Pick<Session, 'client'>, ids: readonly string[]): Promise<string[]> {
  const state = await client.service.workers().catch(() => null)
  return waitingLines((state?.data.waiting ?? []).filter(({ kind, id }) => kind === 'fee_schedule' && ids.includes(id)))
}
