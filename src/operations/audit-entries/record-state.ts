/** Compares keys, policies, sponsorships and schedules with the audit log at the start, and adds entries that an earlier version did not write. */

import type { Services } from '../../context.ts'
import { internal } from '../../platform/errors.ts'
import { appendAudit, lockAudit } from '../../store/audit/entries.ts'
import { type AuditVerdict, readEntriesOf } from '../../store/audit/verification.ts'
import { newId } from '../../store/id.ts'
import { findSetting, settleSetting } from '../../store/settings.ts'
import type { Reader } from '../../store/store.ts'
import { expectedState, RECORDED, STANDING_ACTIONS } from './expected-state.ts'

type Recording = Pick<Services, 'store' | 'vault' | 'clock'>

/**
 * Records keys, sponsorships and schedules of an earlier version, once, and returns their number. A log with entries
 * of this version gets none, so that an intruder who removes the setting cannot have forged rows recorded.
 */
export async function recordEarlierState({ store, vault, clock }: Recording): Promise<number> {
  if ((await findSetting(store.db, RECORDED)) !== null) return 0
  return store.write(async (tx) => {
    const own = newId('rec')
    if ((await settleSetting(tx, RECORDED, own)) !== own) return 0
    await lockAudit(tx)
    const { state, broken } = await standingState(tx, { vault, clock })
    if (broken !== null) return 0
    const found = await state.unrecorded(tx)
    const count = Object.values(found).reduce((sum, rows) => sum + rows.length, 0)
    if (count === 0) return 0
    const about = { action: 'audit.recorded', signer: null, api_key_id: '', request_id: 'upgrade' }
    await appendAudit(tx, vault, { ...about, at: clock.now(), details_json: JSON.stringify(found) })
    return count
  })
}

/** Throws internal_error when a key, policy, sponsorship or schedule differs from the audit log. */
export async function requireRecordedState({ store, vault, clock }: Recording): Promise<void> {
  const fault = await store.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const { state, broken } = await standingState(tx, { vault, clock })
      return broken ?? (await state.standingDifference(tx))
    })
  if (fault === null) return
  throw internal(
    `the database was changed by something other than svc: ${fault.why} (entry ${fault.sequence} of the audit log, \`svc audit verify\`): undo the change, revoke a key that is not yours (\`svc keys delete ID\`), or restore a backup (\`svc db restore\`)`,
  )
}

async function standingState(reader: Reader, { vault, clock }: Omit<Recording, 'store'>) {
  const state = expectedState(clock.now())
  const broken: AuditVerdict['broken'] = await readEntriesOf(reader, STANDING_ACTIONS, {
    vault,
    onBegin(anchor) {
      if (anchor !== null) state.restore(anchor)
    },
    onEntry: state.apply,
  })
  return { state, broken }
}
