/** Plans a claim of the fees of a wallet's positions in a DAMM v2 pool, including locked ones. */
import { BENEFICIARIES_OF, type Beneficiary } from '../../api/fee-claims.ts'
import {
  buildPositionClaim,
  claimAccounts,
  claimDelegateOf,
  type DammV2Pool,
  type DammV2Position,
  poolOfPosition,
  positionsPerClaim,
  readPositions,
} from '../../chain/programs/damm-v2/index.ts'
import { type DbcPool, migratedPoolAddress } from '../../chain/programs/dbc/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import { type ApiError, badRequest, notFound } from '../../platform/errors.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { buildTransaction } from '../building.ts'
import { platformWallet } from '../platform-wallet.ts'
import { readPools, requirePool } from '../pools/on-chain.ts'
import { curveBehind, noteMigration } from '../pools/take-steps.ts'
import { nothingToClaim, requireClaimerRent, tooEarly } from './claim-answers.ts'
import type { ClaimContext } from './claim-context.ts'
import type { FeeClaimInput, PlannedFeeClaim } from './types.ts'

/** One and a half times the measured cost of the most expensive claim of many positions. */
const POSITION_CLAIM_UNITS = 400_000

interface PositionPool {
  pool: DammV2Pool
  /** The curve that migrated to the pool, if the request or a record names it. */
  curve: DbcPool | null
}

/** Claims every position of the owner that fits in one transaction. The address may be the curve's. */
export async function planPositionClaim(
  context: ClaimContext,
  input: FeeClaimInput,
  payer: string,
): Promise<PlannedFeeClaim> {
  const beneficiary = input.beneficiary ?? BENEFICIARIES_OF.damm_v2[0]
  const found = await requirePositionPool(context, input.address)
  const { pool } = found
  const owner = input.owner ?? (await resolveOwner(context, beneficiary, found))
  const { positions, delegate } = await claimablePositions(context, { pool, owner, payer, only: input.position })
  const ownAccounts = await claimAccounts(pool, owner)
  if (payer !== owner && delegate === undefined) await requireClaimerRent(context, owner, ownAccounts)
  const chosen = positions.slice(0, positionsPerClaim({ owner, payer }))
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: POSITION_CLAIM_UNITS,
    async build(envelope) {
      const [first] = await buildPositionClaim({ ...envelope, owner, delegate, pool, positions: chosen })
      if (first === undefined) throw nothingToClaim(pool.address, ` for ${owner}`)
      return first
    },
  })
  // The owner's wrapped account is closed again. A delegate cannot close it.
  const isLasting = (mint: string | undefined) => delegate !== undefined || mint !== WRAPPED_SOL
  const lasting = ownAccounts.filter((_, i) => isLasting([pool.tokenAMint, pool.tokenBMint][i]))
  const missing = (await accountsAt(context.chain, lasting)).filter((account) => account === null)
  return {
    built,
    opens: missing.map(() => owner),
    plan: {
      pool_address: pool.address,
      kind: 'damm_v2',
      beneficiary,
      claimer: owner,
      ...(delegate === undefined ? {} : { delegate }),
      estimated_quote: String(chosen.reduce((sum, { feeB }) => sum + feeB, 0n)),
      estimated_base: String(chosen.reduce((sum, { feeA }) => sum + feeA, 0n)),
      quote_mint: pool.tokenBMint,
      quote_decimals: pool.tokenBDecimals,
      base_mint: pool.tokenAMint,
      base_decimals: pool.tokenADecimals,
      remaining_positions: positions.length - chosen.length,
      type: 'fee_claim.executed',
    },
  }
}

/**
 * Returns the positions with fees that this payer can claim, and the payer as `delegate` if it is that of some of them:
 * then only these. Anyone can give a wallet positions that hold almost nothing, so the largest fees come first.
 */
async function claimablePositions(
  { chain }: ClaimContext,
  { pool, owner, payer, only }: { pool: DammV2Pool; owner: string; payer: string; only: string | undefined },
): Promise<{ positions: DammV2Position[]; delegate: string | undefined }> {
  const all = await readPositions(chain, pool.address, owner)
  if (only !== undefined && !all.some(({ position }) => position === only)) {
    throw await unheldPosition(chain, { position: only, holder: owner, pool: pool.address })
  }
  const asked = only === undefined ? all : all.filter(({ position }) => position === only)
  const held = asked.filter(({ feeA, feeB }) => feeA > 0n || feeB > 0n)
  if (held.length === 0) throw nothingToClaim(pool.address, ` for ${owner}`)
  held.sort((a, b) => (a.feeB === b.feeB ? (a.feeA < b.feeA ? 1 : -1) : a.feeB < b.feeB ? 1 : -1))
  const delegated = payer === owner ? [] : held.filter((position) => claimDelegateOf(position) === payer)
  return delegated.length === 0 ? { positions: held, delegate: undefined } : { positions: delegated, delegate: payer }
}

/** The pool of a migrated curve belongs to the parties of the curve; any other pool belongs to its creator. */
async function resolveOwner(
  context: ClaimContext,
  beneficiary: Beneficiary,
  { pool, curve }: PositionPool,
): Promise<string> {
  return beneficiary === 'partner' ? resolvePartner(context, { curve }) : (curve?.creator ?? pool.creator)
}

/** Returns the wallet that holds the partner's positions: the curve's fee claimer, otherwise the platform wallet. */
export const resolvePartner = async (
  context: Parameters<typeof platformWallet>[0],
  { curve }: Pick<PositionPool, 'curve'>,
): Promise<string> => curve?.feeClaimer ?? platformWallet(context)

/** Returns the pool at the address, or the one that the curve at the address became. Throws bad_request before that. */
export async function requirePositionPool(
  context: Parameters<typeof noteMigration>[0],
  address: string,
): Promise<PositionPool> {
  const { chain } = context
  const chainPool = await requirePool(chain, address)
  if (chainPool.type === 'damm_v2') return { pool: chainPool.pool, curve: await curveBehind(context, chainPool.pool) }
  const { pool: curve } = chainPool
  await noteMigration(context, chainPool)
  const [migrated] = curve.isMigrated ? await readPools(chain, [await migratedPoolAddress(curve)]) : []
  if (migrated?.type === 'damm_v2') return { pool: migrated.pool, curve }
  throw tooEarly(`The pool ${address} has not migrated: claim its fees with kind dbc`)
}

/** The error for a position that the wallet does not hold in the pool: not_found if there is none at the address. */
export async function unheldPosition(
  chain: ClaimContext['chain'],
  { position, holder, pool }: { position: string; holder: string; pool: string },
): Promise<ApiError> {
  const itsPool = await poolOfPosition(chain, position)
  const extras = { param: 'position' }
  if (itsPool === null) return notFound(`There is no position at ${position}`, extras)
  if (itsPool !== pool) return badRequest(`${position} is a position of the pool ${itsPool}`, extras)
  return badRequest(
    `${holder} holds no position ${position} in the pool ${pool}; list those of a wallet (GET /v2/pools/{address}/positions, \`svc pools positions list\`)`,
    extras,
  )
}
