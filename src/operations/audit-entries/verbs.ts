/** The audit log: list its entries, and verify them. */

import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { lastAnchor } from '../../store/audit/anchors.ts'
import { lockAudit, pageAudit } from '../../store/audit/entries.ts'
import { type AuditVerdict, auditWalk } from '../../store/audit/verification.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { auditEntryRecord, listOf } from '../api-records.ts'
import { expectedState } from './expected-state.ts'

type Routes = Api['auditEntries']

export const listAuditEntries = listOf<Routes['list'], Row<'audit_entries'>>(pageAudit, auditEntryRecord)

/** Verifies that the audit log is unchanged, and that policies, spends, keys, sponsorships and schedules match it. */
export async function verifyAuditEntries(
  context: Pick<Context, 'store' | 'vault' | 'clock'>,
  { head: expectedHead }: Input<Routes['verify']>,
): Promise<Result<Routes['verify']>> {
  for (;;) {
    const before = await lastAnchor(context.store.db)
    const verdict = await verifyAudit(context, expectedHead)
    const cut = await lastAnchor(context.store.db)
    // Entries that were cut meanwhile look like missing ones.
    if (verdict.broken !== null && cut?.sequence !== before?.sequence) continue
    const anchor = cut === null ? {} : { cut: cutRecord(cut) }
    return { intact: verdict.broken === null, ...verdict, ...anchor }
  }
}

export const cutRecord = ({ sequence, hash, cut_at }: { sequence: number; hash: string; cut_at: number }) => ({
  sequence,
  hash,
  cut_at: new Date(cut_at).toISOString(),
})

type Verifying = Pick<Context, 'vault' | 'clock'>

/** Returns the verdict on the state of the database that `reader` sees. */
export async function auditVerdict(reader: Reader, verifying: Verifying): Promise<AuditVerdict> {
  const { state, walk } = walkFrom(verifying, undefined)
  for (const step of [walk.begin, walk.forward]) {
    const verdict = await step(reader)
    if (verdict.broken !== null) return verdict
  }
  return endWalk(walk, state, reader)
}

async function endWalk(
  walk: ReturnType<typeof auditWalk>,
  state: ReturnType<typeof expectedState>,
  reader: Reader,
): Promise<AuditVerdict> {
  const ends = await walk.ends(reader)
  return ends.broken === null ? { ...ends, broken: await state.difference(reader) } : ends
}

function walkFrom({ vault, clock }: Verifying, expected: string | undefined) {
  const state = expectedState(clock.now())
  const walk = auditWalk({
    vault,
    expected,
    onBegin(anchor) {
      if (anchor !== null) state.restore(anchor)
    },
    onEntry: state.apply,
  })
  return { state, walk }
}

async function verifyAudit(
  context: Verifying & Pick<Context, 'store'>,
  expected: string | undefined,
): Promise<AuditVerdict> {
  const { store } = context
  let { state, walk } = walkFrom(context, expected)
  const begun = await walk.begin(store.db)
  if (begun.broken !== null) return begun
  // A long log is read outside of the transaction. Entries written meanwhile are read together with the rows that they
  // are compared with.
  const verdict = await walk.forward(store.db)
  if (verdict.broken !== null) return verdict
  let hasRun = false
  return store.write(async (tx) => {
    await lockAudit(tx)
    // A repeated transaction starts over, because entries that the first run read may have been rolled back.
    if (hasRun) {
      ;({ state, walk } = walkFrom(context, expected))
      const again = await walk.begin(tx)
      if (again.broken !== null) return again
    }
    hasRun = true
    const rest = await walk.forward(tx)
    return rest.broken === null ? endWalk(walk, state, tx) : rest
  })
}
