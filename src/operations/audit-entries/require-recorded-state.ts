/** Compares keys, policies, sponsorships and schedules with the audit log when the daemon starts. */

import type { Services } from '../../context.ts'
import { internal } from '../../platform/errors.ts'
import { type AuditVerdict, readEntriesAbout } from '../../store/audit/verification.ts'
import { expectedState, STANDING_ACTIONS } from './expected-state.ts'

/** Throws internal_error if a key, policy, sponsorship or schedule differs from the audit log. */
export async function requireRecordedState({
  store,
  vault,
  clock,
}: Pick<Services, 'store' | 'vault' | 'clock'>): Promise<void> {
  const fault = await store.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const state = expectedState(clock.now())
      const broken: AuditVerdict['broken'] = await readEntriesAbout(tx, STANDING_ACTIONS, {
        vault,
        onBegin(anchor) {
          if (anchor !== null) state.restore(anchor)
        },
        onEntry: state.apply,
      })
      return broken ?? (await state.standingDifference(tx))
    })
  if (fault === null) return
  throw internal(
    `the database was changed by something other than svc: ${fault.why} (entry ${fault.sequence} of the audit log, \`svc audit verify\`): undo the change, revoke a key that is not yours (\`svc keys delete ID\`), or restore a backup (\`svc db restore\`)`,
  )
}
