/** Says what happens next with a full curve, who does it, and what lifts a refusal. */
import type { Pool, PoolRead } from '../../src/api/pools.ts'
import type { Session } from '../cli/session.ts'
import { timeText } from '../ui/times.ts'

const isFull = ({ type, status, curve_progress }: Pick<Pool, 'type' | 'status' | 'curve_progress'>) =>
  type === 'dbc' && (status === 'migration_triggered' || (status === 'live' && curve_progress === 1))

/** The lines for a full curve that has not migrated; none for any other pool. */
export async function nextStep({ client }: Pick<Session, 'client'>, pool: PoolRead): Promise<string[]> {
  if (!isFull(pool)) return []
  const own = `\`svc pools migrate ${pool.address}\` (anybody may)`
  const { sent_here = false, failures = 0, refusal = null, next_try_at = null } = pool.migration ?? {}
  if (!sent_here) return [`Full. Nobody migrates here: ${own}, or \`svc config set pools.crank true\`.`]
  // The reason is for people, so a refused or failed read of it does not matter.
  const state = await client.service.workers().catch(() => null)
  const worker = state?.data.workers.find(({ name }) => name === 'pool-migration')
  if (state?.data.role === null && worker?.running !== true) {
    return [`Full. It migrates once \`svc serve\` runs (pools.crank), or by ${own}.`]
  }
  if (failures === 0) return ['Full. The platform wallet migrates it now (pools.crank).']
  const then = next_try_at === null ? '' : `, and otherwise at ${timeText(next_try_at)}`
  return [
    `Full. The platform wallet could not migrate it: ${refusal ?? '`svc status` and the log say why'}`,
    `After a change of the policy it tries again at once${then}. Or: ${own}.`,
  ]
}
