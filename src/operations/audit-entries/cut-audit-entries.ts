/** Cuts the beginning of the audit log: verifies it, leaves a sealed anchor in its place, and removes the entries in steps. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { DAY_MS } from '../../platform/timing.ts'
import { type AuditAnchor, insertAnchor, lastAnchor, pruneCutEntries } from '../../store/audit/anchors.ts'
import { lockAudit } from '../../store/audit/entries.ts'
import { auditWalk } from '../../store/audit/verification.ts'
import type { Row } from '../../store/schema.ts'
import { removeInSteps } from '../../store/writing/in-steps.ts'
import { audit } from '../signing/audit.ts'
import { expectedState } from './expected-state.ts'
import { cutRecord } from './verbs.ts'

type CutAuditEntriesRoute = Api['auditEntries']['cut']
type CutResult = Result<CutAuditEntriesRoute>

/** The spend of the last day is compared with its entries. The second day covers differing clocks. */
const YOUNGEST_MS = 2 * DAY_MS

/**
 * Throws bad_request for an entry that is too recent or has another hash. Throws it too if the log is broken or was
 * cut meanwhile. Repeating the same cut gives the same answer.
 */
export async function cutAuditEntries(
  context: Context,
  { through, hash, file_sha256 }: Input<CutAuditEntriesRoute>,
): Promise<CutResult> {
  const { store, vault, clock } = context
  const before = await lastAnchor(store.db)
  if (before !== null && through <= before.sequence) {
    const answer = await earlierCut(context, before, { through, hash })
    await removeCut(context)
    return answer
  }
  const { last, at, policies_json } = await verifiedThrough(context, through)
  if (last.hash !== hash) {
    throw badRequest(
      `Entry ${through} has another hash: the export is from another log or was changed; export it again`,
      {
        param: 'hash',
      },
    )
  }
  const now = clock.now()
  if (at > now - YOUNGEST_MS) {
    throw badRequest(
      `Entries of the last two days stay in the log, and entry ${through} or an earlier one is from ${new Date(at).toISOString()}: cut through an earlier entry`,
      { param: 'through' },
    )
  }
  const entries = through - (before?.sequence ?? 0)
  const answer = await context.commit(async (tx) => {
    await lockAudit(tx)
    if ((await lastAnchor(tx))?.sequence !== before?.sequence)
      throw badRequest('Another request has cut the log meanwhile: export the remaining entries', { param: 'through' })
    await insertAnchor(tx, vault, { sequence: through, hash, at, policies_json, cut_at: now })
    const file = file_sha256 === undefined ? {} : { file_sha256 }
    await audit(context, tx, 'audit.cut', null, { through, hash, entries, ...file })
    return { ...cutRecord({ sequence: through, hash, cut_at: now }), entries }
  })
  await removeCut(context)
  return answer
}

/**
 * Removes the entries that the anchor replaces. If a crash leaves some, repeating the cut or housekeeping removes
 * them.
 */
async function removeCut({ store, vault, ending }: Context): Promise<void> {
  await removeInSteps(store, 'audit_entries', (tx, limit) => pruneCutEntries(tx, vault, limit), ending)
}

/** Verifies the stored entries up to `through`, and returns the last one with the state that they left. */
async function verifiedThrough(
  { store, vault, clock }: Context,
  through: number,
): Promise<{ last: Row<'audit_entries'>; at: number; policies_json: string }> {
  const state = expectedState(clock.now())
  const reached: { at: number; last: Row<'audit_entries'> | null } = { at: 0, last: null }
  const walk = auditWalk({
    vault,
    onBegin(anchor) {
      if (anchor !== null) state.restore(anchor)
    },
    onEntry(entry) {
      state.apply(entry)
      reached.at = Math.max(reached.at, entry.at)
      reached.last = entry
    },
  })
  const begun = await walk.begin(store.db)
  const { broken } = begun.broken === null ? await walk.forward(store.db, through) : begun
  if (broken !== null) {
    throw badRequest(
      `Nothing was cut, because entry ${broken.sequence} does not verify: ${broken.why} (GET /v2/audit-verification, \`svc audit verify\`)`,
      { param: 'through' },
    )
  }
  const { at, last } = reached
  if (last?.sequence !== through) throw badRequest(`There is no entry ${through} in the log`, { param: 'through' })
  return { last, at, policies_json: state.stateJson() }
}

async function earlierCut(
  context: Context,
  anchor: AuditAnchor,
  { through, hash }: { through: number; hash: string },
): Promise<CutResult> {
  if (anchor.sequence !== through || anchor.hash !== hash)
    throw badRequest(`The log was already cut through entry ${anchor.sequence}`, { param: 'through' })
  return context.commit(async () => ({ ...cutRecord(anchor), entries: 0 }))
}
