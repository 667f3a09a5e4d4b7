/** The sponsorship of an airdrop: read it, change it, and offer it to a visitor. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context, Services } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { lockTree } from '../../store/airdrops/merkle-trees.ts'
import {
  findSponsorship,
  insertSponsorship,
  lockSponsorship,
  type SponsorshipRow,
  updateSponsorship,
} from '../../store/airdrops/sponsorships.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { requireRecord } from '../api-records.ts'
import { audit } from '../signing/audit.ts'
import { trySigner } from '../signing/require-signer.ts'
import { notSponsored } from './refusals.ts'
import { forgetRefusals } from './refused-claims.ts'
import { isPaused, requireSponsorship } from './sponsorship-checks.ts'
import { lamportsLeft, sponsorshipRecord, sponsorshipTerms } from './sponsorship-record.ts'

type Routes = Api['sponsorships']

/** Reads the sponsorship of an airdrop. */
export async function getSponsorship(
  { store }: Pick<Context, 'store'>,
  { id }: Input<Routes['get']>,
): Promise<Result<Routes['get']>> {
  const row = await findSponsorship(store.db, id)
  if (row === null) throw notSponsored(id)
  return sponsorshipRecord(store.db, row)
}

/**
 * Throws not_found without a stored tree. Throws bad_request naming `budget` for a new sponsorship without one. It
 * names `root` if the tree has another root, or if a sponsorship of another key's tree starts without it. The tree is
 * locked, so it cannot be replaced meanwhile.
 */
export async function changeSponsorship(
  context: Context,
  input: Input<Routes['update']>,
): Promise<Result<Routes['update']>> {
  return context.commit(async (tx) => {
    const tree = requireRecord(await lockTree(tx, input.id), 'merkle tree', input.id)
    requireRoot(input, tree)
    const before = await lockSponsorship(tx, input.id)
    const after =
      before === null ? await begin(context, tx, tree, input) : await change(context, tx, { before, tree }, input)
    return sponsorshipRecord(tx, after)
  })
}

type Tree = Pick<Row<'merkle_trees'>, 'id' | 'root' | 'created_by'>

function requireRoot({ root }: Input<Routes['update']>, tree: Tree): void {
  const meant = root?.replace(/^0x/, '').toLowerCase()
  if (meant === undefined || meant === tree.root) return
  throw badRequest(`root: the stored tree ${tree.id} has the root ${tree.root}, not ${meant}`, {
    param: 'root',
    details: { stored_root: tree.root, root: meant },
  })
}

async function begin(
  context: Context,
  tx: Tx,
  { root, created_by }: Tree,
  { id, budget, enabled = true, root: named }: Input<Routes['update']>,
): Promise<SponsorshipRow> {
  if (budget === undefined) {
    throw badRequest('budget: a new sponsorship needs the lamports that it may spend', { param: 'budget' })
  }
  // Until it is sponsored, its owner can replace the tree, even after this key has looked at it.
  if (named === undefined && created_by !== context.actor.apiKeyId) {
    throw badRequest(
      `root: another API key stored the list of ${id}, and may have replaced it: send the root of the intended list (\`svc airdrops sponsor ${id} --budget SOL --root ROOT\`)`,
      { param: 'root' },
    )
  }
  const now = context.clock.now()
  const row = await insertSponsorship(tx, {
    airdrop_id: id,
    root,
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
  { before, tree }: { before: SponsorshipRow; tree: Tree },
  input: Input<Routes['update']>,
): Promise<SponsorshipRow> {
  const { id, budget = before.budget, enabled = before.enabled === 1 } = input
  const isEnded = before.root !== tree.root
  if (isEnded && enabled && input.root === undefined) {
    throw badRequest(
      `root: the sponsorship has ended, because the list of ${id} was replaced by one with the root ${tree.root}: to sponsor that list, send its root (\`svc airdrops sponsor ${id} --root ROOT\`)`,
      { param: 'root', details: { root: before.root, stored_root: tree.root } },
    )
  }
  const root = enabled ? tree.root : before.root
  if (budget === before.budget && enabled === (before.enabled === 1) && root === before.root) return before
  const changes = { root, budget, enabled: enabled ? 1 : 0, updated_by: context.actor.apiKeyId }
  const row = requireRecord(
    await updateSponsorship(tx, id, { ...changes, updated_at: context.clock.now() }),
    'sponsorship',
    id,
  )
  await forgetRefusals(tx, id)
  await auditChange(context, tx, row)
  return row
}

const auditChange = (context: Context, tx: Tx, row: SponsorshipRow) =>
  audit(context, tx, 'sponsorship.changed', null, sponsorshipTerms(row))

type OfferServices = Pick<Services, 'store' | 'clock' | 'signer' | 'log'>

/** Throws not_found without an enabled sponsorship. */
export async function offerSponsorship(services: OfferServices, id: string): Promise<{ available: boolean }> {
  const row = await requireSponsorship(services, id)
  const signer = await trySigner(services)
  return { available: signer !== null && lamportsLeft(row) > 0n && !(await isPaused(services, signer)) }
}
