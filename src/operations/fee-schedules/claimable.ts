/** Reads what a pool holds for the platform wallet, by kind, before any claim is built. */
import { BENEFICIARIES_OF, type FeeClaimKind } from '../../api/fee-claims.ts'
import type { ScheduleTerms } from '../../api/fee-schedules.ts'
import type { Chain } from '../../chain/connection.ts'
import { claimDelegateOf, type DammV2Position, readPositions } from '../../chain/programs/damm-v2/index.ts'
import { type DbcPool, migratedPoolAddress, vestingEscrowAddress } from '../../chain/programs/dbc/index.ts'
import { readLock } from '../../chain/programs/jupiter-lock/index.ts'
import { lockAmounts } from '../../solana/lock-schedule.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import type { ScheduledPool } from '../../store/fees/fee-schedule-runs.ts'
import { oneTimeClaim } from '../fee-claims/plan-withdrawals.ts'
import type { ChainPool } from '../pools/on-chain.ts'

export interface ClaimableShare {
  kind: FeeClaimKind
  /** The pool that is claimed from. For `damm_v2` it is the one that a curve migrated to. */
  address: string
  /** Who can claim it. */
  owner: string
  /** The platform wallet, if the owner of the positions has made it its delegate. */
  delegate?: string
  /** Raw units of the quote. */
  quote: bigint
  /** Whether there is anything to claim, in the quote or otherwise. */
  isAny: boolean
}

/** Calls to the node for one pool's positions and lock. */
export const POSITION_CALLS = 5
export const LOCK_CALLS = 1

/** Returns the kinds that the pool can have, in the order of the terms. Throws internal_error when the node fails. */
export async function claimableShares(
  chain: Chain,
  { kinds, beneficiary }: Pick<ScheduleTerms, 'kinds' | 'beneficiary'>,
  { target, chainPool, wallet }: { target: ScheduledPool; chainPool: ChainPool; wallet: string },
): Promise<ClaimableShare[]> {
  const shares: ClaimableShare[] = []
  for (const kind of kinds) {
    const isCreator = (beneficiary ?? BENEFICIARIES_OF[kind][0]) === 'creator'
    if (kind === 'damm_v2') {
      const address = await positionPool(chainPool, target)
      if (address !== null) shares.push(await positionShare(chain, { address, chainPool, wallet, isCreator }))
    } else if (chainPool.type === 'dbc') {
      const { pool } = chainPool
      const held = kind === 'vesting' ? await vestedTokens(chain, pool) : curveShare(kind, pool, isCreator)
      shares.push({ kind, address: target.address, ...held })
    }
  }
  return shares
}

/** The DAMM v2 pool of a target, or null for a curve that has not migrated. */
async function positionPool(chainPool: ChainPool, target: ScheduledPool): Promise<string | null> {
  if (chainPool.type === 'damm_v2') return target.address
  return chainPool.pool.isMigrated ? (target.migrated_to ?? migratedPoolAddress(chainPool.pool)) : null
}

async function positionShare(
  chain: Chain,
  at: { address: string; chainPool: ChainPool; wallet: string; isCreator: boolean },
): Promise<ClaimableShare> {
  const { address, chainPool, wallet, isCreator } = at
  // Positions belong to their owner. The creator's share is claimed only if the platform wallet is the creator.
  const owner = isCreator ? chainPool.pool.creator : wallet
  if (owner !== wallet) return { kind: 'damm_v2', address, owner, quote: 0n, isAny: false }
  const own = { kind: 'damm_v2' as const, address, owner, ...sumOf(await readPositions(chain, address, wallet)) }
  const partner = !isCreator && chainPool.type === 'dbc' ? chainPool.pool.feeClaimer : wallet
  if (own.isAny || partner === wallet) return own
  const positions = await readPositions(chain, address, partner)
  const delegated = sumOf(positions.filter((position) => claimDelegateOf(position) === wallet))
  return delegated.isAny ? { ...own, owner: partner, delegate: wallet, ...delegated } : own
}

function sumOf(positions: readonly DammV2Position[]): Pick<ClaimableShare, 'quote' | 'isAny'> {
  const [a, b] = positions.reduce(([a, b], { feeA, feeB }) => [a + feeA, b + feeB], [0n, 0n])
  return { quote: b, isAny: a > 0n || b > 0n }
}

/** A lock pays the creator at the migration, even if another wallet has the role now. */
async function vestedTokens(chain: Chain, pool: DbcPool): Promise<Pick<ClaimableShare, 'owner' | 'quote' | 'isAny'>> {
  const none = { owner: pool.creator, quote: 0n, isAny: false }
  if (!pool.isMigrated || !pool.hasVesting) return none
  const { at, escrow } = await readLock(chain, await vestingEscrowAddress(pool.address))
  if (escrow === null) return none
  const { claimable } = lockAmounts(escrow, BigInt(at.unixSeconds))
  return { owner: escrow.recipient, quote: 0n, isAny: claimable > 0n }
}

function curveShare(
  kind: Exclude<FeeClaimKind, 'damm_v2' | 'vesting'>,
  pool: DbcPool,
  isCreator: boolean,
): Pick<ClaimableShare, 'owner' | 'quote' | 'isAny'> {
  const owner = isCreator ? pool.creator : pool.feeClaimer
  const paid = (quote: bigint, base = 0n) => ({ owner, quote, isAny: quote > 0n || base > 0n })
  switch (kind) {
    case 'dbc':
      return isCreator
        ? paid(pool.creatorQuoteFee, pool.creatorBaseFee)
        : paid(pool.partnerQuoteFee, pool.partnerBaseFee)
    case 'surplus':
    case 'migration_fee':
      return paid(oneTimeClaim(pool, kind, isCreator).claimable)
    case 'pool_creation_fee': {
      // The fee is paid in SOL, whatever the quote is.
      const lamports = pool.creationFee.claimable
      return pool.quoteMint === WRAPPED_SOL ? paid(lamports) : paid(0n, lamports)
    }
    case 'leftover': {
      const isAny = pool.isMigrated && pool.leftover.isPossible && !pool.leftover.withdrawn
      return { owner: pool.leftoverReceiver, quote: 0n, isAny }
    }
  }
}
