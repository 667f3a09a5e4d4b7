/** Verifies that the audit log is unchanged, and that policies and spends match it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { lockAudit } from '../../store/audit-entries.ts'
import { auditWalk } from '../../store/audit-verification.ts'
import { expectedState } from './expected-state.ts'

type VerifyAuditEntriesRoute = Api['auditEntries']['verify']

export async function verifyAuditEntries(
  { store, vault, clock }: Context,
  { head: expectedHead }: Input<VerifyAuditEntriesRoute>,
): Promise<Result<VerifyAuditEntriesRoute>> {
  const state = expectedState(clock.now())
  const walk = auditWalk(vault, expectedHead, state.apply)
  // A long log is read outside of the transaction. Entries written meanwhile are read together with the rows that they
  // are compared with.
  let verdict = await walk.forward(store.db)
  if (verdict.broken === null) {
    verdict = await store.write(async (tx) => {
      await lockAudit(tx)
      const rest = await walk.forward(tx)
      const ends = rest.broken === null ? await walk.ends(tx) : rest
      return ends.broken === null ? { ...ends, broken: await state.difference(tx) } : ends
    })
  }
  return { intact: verdict.broken === null, ...verdict }
}
