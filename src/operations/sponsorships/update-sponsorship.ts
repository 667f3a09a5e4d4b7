/** Begins, changes or stops the sponsorship of an airdrop's claims. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { findTree } from '../../store/merkle-trees.ts'
import { insertSponsorship, lockSponsorship, type SponsorshipRow, updateSponsorship } from '../../store/sponsorships.ts'
import type { Tx } from '../../store/store.ts'
import { requireRecord } from '../require-record.ts'
import { audit } from '../signing/audit.ts'
import { sponsorshipRecord, sponsorshipTerms } from './sponsorship-record.ts'

type UpdateSponsorshipRoute = Api['sponsorships']['update']

/** Throws not_found without a stored tree, and bad_request naming `budget` for a new sponsorship without one. */
export async function updateSponsorshipOf(
  context: Context,
  input: Input<UpdateSponsorshipRoute>,
): Promise<Result<UpdateSponsorshipRoute>> {
  requireRecord(await findTree(context.store.db, input.id), 'merkle tree', input.id)
  return context.commit(async (tx) => {
    const before = await lockSponsorship(tx, input.id)
    const after = before === null ? await begin(context, tx, input) : await change(context, tx, before, input)
    return sponsorshipRecord(tx, after)
  })
}

async function begin(
  context: Context,
  tx: Tx,
  { id, budget, enabled = true }: Input<UpdateSponsorshipRoute>,
): Promise<SponsorshipRow> {
  if (budget === undefined) {
    throw badRequest('budget: a new sponsorship needs the lamports that it may spend', { param: 'budget' })
  }
  const now = context.clock.now()
  const row = await insertSponsorship(tx, {
    airdrop_id: id,
    enabled: enabled ? 1 : 0,
    budget,
    used: '0',
    created_by: context.actor.apiKeyId,
    updated_by: context.actor.apiKeyId,
    created_at: now,
    updated_at: now,
  })
  await auditChange(context, tx, row)
  return row
}

async function change(
  context: Context,
  tx: Tx,
  before: SponsorshipRow,
  { id, budget = before.budget, enabled = before.enabled === 1 }: Input<UpdateSponsorshipRoute>,
): Promise<SponsorshipRow> {
  if (budget === before.budget && enabled === (before.enabled === 1)) return before
  const changes = { budget, enabled: enabled ? 1 : 0, updated_by: context.actor.apiKeyId }
  const row = requireRecord(
    await updateSponsorship(tx, id, { ...changes, updated_at: context.clock.now() }),
    'sponsorship',
    id,
  )
  await auditChange(context, tx, row)
  return row
}

const auditChange = (context: Context, tx: Tx, row: SponsorshipRow) =>
  audit(context, tx, 'sponsorship.changed', null, sponsorshipTerms(row))
