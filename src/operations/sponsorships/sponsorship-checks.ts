/** Checks whether a sponsorship pays for a wallet's claim: it is enabled, has budget left, and the wallet had no sponsored claim yet. */
import type { Signer } from '../../chain/signer/index.ts'
import type { Services } from '../../context.ts'
import { findTree } from '../../store/airdrops/merkle-trees.ts'
import {
  findSponsorship,
  lockSponsorship,
  type SponsoredClaimRow,
  type SponsorshipRow,
  sponsoredClaimsOfWallet,
} from '../../store/airdrops/sponsorships.ts'
import type { Reader, Tx } from '../../store/store.ts'
import { readPolicyState } from '../signing/policy-state.ts'
import {
  attemptsExhausted,
  budgetExhausted,
  notSponsored,
  sponsoredAlready,
  sponsorshipEnded,
  sponsorshipPaused,
  sponsorUnavailable,
} from './refusals.ts'
import { settleSponsoredClaims } from './settle-sponsored-claims.ts'
import { lamportsLeft } from './sponsorship-record.ts'

/** Most unsuccessful sponsored claims of one wallet. Each failed one costs a fee. */
const MOST_SPONSORED_ATTEMPTS = 3

type SponsoredWallet = Pick<SponsoredClaimRow, 'airdrop_id' | 'wallet' | 'genesis'>
type CheckServices = Pick<Services, 'store' | 'clock'>

/** Throws not_found if the airdrop has no active sponsorship, or one for another list than the stored one. */
export async function requireSponsorship({ store }: Pick<CheckServices, 'store'>, id: string): Promise<SponsorshipRow> {
  return payingOne(store.db, await findSponsorship(store.db, id), id)
}

async function payingOne(reader: Reader, row: SponsorshipRow | null, id: string): Promise<SponsorshipRow> {
  if (row === null) throw notSponsored(id)
  if (row.enabled !== 1) throw sponsorshipPaused(id)
  if ((await findTree(reader, id))?.root !== row.root) throw sponsorshipEnded(id)
  return row
}

/** Whether the signer is paused. */
export async function isPaused({ store, clock }: CheckServices, signer: Signer): Promise<boolean> {
  return (await readPolicyState(store.db, clock, signer.address)).policy.paused
}

/**
 * Throws bad_request while the signer is paused. It writes no entry of the audit log, because strangers could fill it.
 */
export async function requireUnpaused(services: CheckServices, signer: Signer): Promise<void> {
  if (await isPaused(services, signer)) throw sponsorUnavailable('its signer is paused')
}

/** Throws bad_request if a claim of the wallet is pending or has landed, and after too many attempts. */
export async function requireUnsponsored(services: CheckServices, wallet: SponsoredWallet): Promise<void> {
  const claims = await sponsoredClaimsOfWallet(services.store.db, wallet, MOST_SPONSORED_ATTEMPTS)
  // Claims that have ended are settled first, because the worker's next round may be seconds away.
  if (claims.some(({ settled_at }) => settled_at === null)) await settleSponsoredClaims(services)
  await requireFree(services.store.db, wallet)
}

async function requireFree(reader: Reader, wallet: SponsoredWallet): Promise<void> {
  const claims = await sponsoredClaimsOfWallet(reader, wallet, MOST_SPONSORED_ATTEMPTS)
  const live = claims.find((claim) => claim.live === 1)
  if (live !== undefined) throw sponsoredAlready(live)
  if (claims.length >= MOST_SPONSORED_ATTEMPTS) throw attemptsExhausted(wallet.wallet, claims.length)
}

/** Throws bad_request if the budget has fewer lamports left. */
export async function requireBudget(services: CheckServices, id: string, lamports: bigint): Promise<void> {
  const before = await requireSponsorship(services, id)
  if (lamportsLeft(before) >= lamports) return
  await settleSponsoredClaims(services)
  requireLeft(await requireSponsorship(services, id), lamports)
}

function requireLeft(row: SponsorshipRow, lamports: bigint): void {
  const left = lamportsLeft(row)
  if (left < lamports) throw budgetExhausted(row.airdrop_id, left, lamports)
}

/** Repeats all checks under the lock of the sponsorship, so that simultaneous claims are counted one after another. */
export async function lockForClaim(tx: Tx, wallet: SponsoredWallet, lamports: bigint): Promise<SponsorshipRow> {
  const row = await payingOne(tx, await lockSponsorship(tx, wallet.airdrop_id), wallet.airdrop_id)
  await requireFree(tx, wallet)
  requireLeft(row, lamports)
  return row
}
