/** Determines what the claims of a transaction took, for whom, and which of them already have a record. */
import type { Beneficiary, FeeClaimKind } from '../../api/fee-claims.ts'
import type { DammV2Change } from '../../chain/programs/damm-v2/index.ts'
import { type DbcClaimChange, type DbcRecipient, vestingEscrowAddress } from '../../chain/programs/dbc/index.ts'
import type { VestingClaimChange } from '../../chain/programs/jupiter-lock/index.ts'
import type { Config } from '../../settings/config.ts'
import { followedAbout, isFollowedAs } from '../../store/following/followed-accounts.ts'
import { findPool, poolsOfMint } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'

export type PositionClaimChange = Extract<DammV2Change, { kind: 'claim' }> & {
  /** Whether the owner is the signer's wallet, which may not be followed yet. */
  isSigner?: boolean
}
export type ClaimChange = DbcClaimChange | PositionClaimChange | VestingClaimChange

/** One record: a wallet's claims of one kind from one pool for one beneficiary in one transaction. */
interface ClaimedFees {
  pool: string
  kind: FeeClaimKind
  /** Null if the position belongs neither to the partner nor to the creator. */
  beneficiary: Beneficiary | null
  claimer: string
  recipients: DbcRecipient[]
}

type ClaimKey = Omit<ClaimedFees, 'recipients'>

/** Reason for following the platform wallet and the fee claimers of launch curves. */
export const CLAIMER_KIND = 'wallet'

export const isClaim = (change: { kind: string }): change is ClaimChange =>
  change.kind in KINDS || change.kind === 'vesting'

const KINDS: Readonly<Record<DbcClaimChange['kind'], FeeClaimKind>> = {
  claim: 'dbc',
  surplus: 'surplus',
  migration_fee: 'migration_fee',
  leftover: 'leftover',
  pool_creation_fee: 'pool_creation_fee',
}

/** Returns the claims in the order of the changes, each once. Claims from a lock without a pool here are left out. */
export async function claimedFees(
  reader: Reader,
  changes: readonly ClaimChange[],
  { genesis, config }: { genesis: string; config: Pick<Config, 'values'> },
): Promise<ClaimedFees[]> {
  const claimed: ClaimedFees[] = []
  for (const change of changes) {
    const one = await claimedBy(reader, change, { genesis, config })
    if (one === null) continue
    const known = claimed.find((each) => isSameClaim(each, one))
    if (known === undefined) claimed.push(one)
    else known.recipients.push(...one.recipients)
  }
  return claimed
}

async function claimedBy(
  reader: Reader,
  change: ClaimChange,
  { genesis, config }: { genesis: string; config: Pick<Config, 'values'> },
): Promise<ClaimedFees | null> {
  if (change.kind === 'vesting') {
    const pool = await poolOfVesting(reader, change, genesis)
    const { claimer } = change
    return pool === null ? null : { pool, kind: 'vesting', beneficiary: 'creator', claimer, recipients: [] }
  }
  const { pool } = change
  if ('position' in change) {
    const { owner: claimer } = change
    const isPartner =
      change.isSigner === true ||
      claimer === config.values['platform-wallet'] ||
      (await isFollowedAs(reader, genesis, claimer, CLAIMER_KIND))
    const isCreator = !isPartner && (await findPool(reader, pool))?.creator === claimer
    const beneficiary = isPartner ? 'partner' : isCreator ? 'creator' : null
    return { pool, kind: 'damm_v2', beneficiary, claimer, recipients: [] }
  }
  const { beneficiary, claimer } = change
  const recipients = change.kind === 'claim' ? [...change.recipients] : []
  return { pool, kind: KINDS[change.kind], beneficiary, claimer, recipients }
}

/** A position has one owner. The owner's role in the pool may become known only after the claim. */
const isSameClaim = (one: ClaimKey, other: ClaimKey) =>
  one.pool === other.pool &&
  one.kind === other.kind &&
  one.claimer === other.claimer &&
  (one.kind === 'damm_v2' || one.beneficiary === other.beneficiary)

/** Returns the launch curve here whose vested tokens are in the lock, or null. A lock does not name its pool. */
export async function poolOfVesting(
  reader: Reader,
  { escrow, mint }: Pick<VestingClaimChange, 'escrow' | 'mint'>,
  genesis: string,
): Promise<string | null> {
  const named = mint === null ? await followedAbout(reader, genesis, escrow) : null
  const pools = mint === null ? [...(named === null ? [] : [named])] : await poolsOfMint(reader, mint, genesis)
  for (const pool of pools) {
    if ((await vestingEscrowAddress(pool)) === escrow) return pool
  }
  return null
}

/** Finds the record of a claim among those of its transaction. A record without a kind is its pool's only one. */
export const findClaimRow = (rows: readonly Row<'fee_claims'>[], claim: ClaimedFees): Row<'fee_claims'> | undefined =>
  rows.find(({ pool_address: pool, kind, beneficiary, claimer }) =>
    kind === null || claimer === null ? pool === claim.pool : isSameClaim({ pool, kind, beneficiary, claimer }, claim),
  )
