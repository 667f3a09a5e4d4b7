/** Reads the earnings of a pool for partner, creator and protocol, before and after its migration. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { type DammV2Pool, readDammV2Earned } from '../../chain/programs/damm-v2/index.ts'
import {
  type DbcPool,
  migratedPoolAddress,
  readLeftover,
  vestingEscrowAddress,
} from '../../chain/programs/dbc/index.ts'
import { readLock } from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { claimedTradingFees } from '../../store/fees/fee-claims.ts'
import { findPool } from '../../store/resources/pools.ts'
import { trySigner } from '../signing/require-signer.ts'
import { readPools, requirePool } from './on-chain.ts'
import {
  asText,
  curveSources,
  type EarningParty,
  othersSource,
  partyRecord,
  positionSource,
  protocolSource,
  sharedTradingFees,
} from './party-earnings.ts'
import { curveBehind } from './take-steps.ts'

type GetEarningsRoute = Api['pools']['earnings']

/** The address may be the launch curve's, or that of the pool that it migrated to. Both are read together. */
export async function getEarnings(
  context: Context,
  { address }: Input<GetEarningsRoute>,
): Promise<Result<GetEarningsRoute>> {
  const { store } = context
  const { curve, damm, creator } = await bothPools(context, address)
  const platform = context.config.values['platform-wallet'] ?? (await trySigner(context))?.address
  const partners = [...new Set([curve?.feeClaimer, platform].flatMap((wallet) => wallet ?? []))]
  // If one wallet is both, its positions count for the partner.
  const creators = partners.includes(creator) ? [] : [creator]
  const [ofCurve, earned] = await Promise.all([
    curve && readCurveSources(context, curve),
    damm && readDammV2Earned(context.chain, damm.address, [...partners, ...creators]),
  ])
  const positions = (wallets: readonly string[]) =>
    damm === null || earned === null || wallets.length === 0 ? [] : [positionSource(damm.address, earned, wallets)]
  const [ofPartner, ofCreator] = [positions(partners), positions(creators)]
  const rest =
    damm === null || earned === null ? [] : [othersSource(damm.address, earned, [...ofPartner, ...ofCreator])]
  const protocol = damm === null || earned === null ? [] : [protocolSource(damm.address, earned)]
  const parties: EarningParty[] = [
    { party: 'partner', sources: [...(ofCurve?.partner ?? []), ...ofPartner] },
    { party: 'creator', sources: [...(ofCurve?.creator ?? []), ...ofCreator] },
    { party: 'protocol', sources: [...(ofCurve?.protocol ?? []), ...protocol] },
    ...(damm === null || damm.collectFeeMode === 'compounding' ? [] : [{ party: 'others' as const, sources: rest }]),
  ]
  const together = curve === null ? null : sharedTradingFees(curve)
  return {
    pool_address: address,
    curve_address: curve?.address ?? null,
    damm_v2_address: damm?.address ?? null,
    ...mintsOf(curve, damm),
    base_symbol: (await findPool(store.db, address))?.symbol ?? null,
    trading_fees: together && { quote: asText(together.quote), base: asText(together.base) },
    positions_complete: earned?.isComplete ?? true,
    parties: parties.map(partyRecord),
  }
}

interface BothPools {
  curve: DbcPool | null
  damm: DammV2Pool | null
  creator: string
}

/** A curve determines its later pool. Only the record of a pool names its curve; nothing on chain does. */
async function bothPools(context: Context, address: string): Promise<BothPools> {
  const { chain, store } = context
  const named = await requirePool(chain, address)
  if (named.type === 'dbc') {
    const { pool: curve } = named
    const [migrated] = curve.isMigrated ? await readPools(chain, [await migratedPoolAddress(curve)]) : []
    return { curve, damm: migrated?.type === 'damm_v2' ? migrated.pool : null, creator: curve.creator }
  }
  const curve = await curveBehind(context, named.pool)
  const row = await findPool(store.db, address)
  return { curve, damm: named.pool, creator: curve?.creator ?? row?.creator ?? named.pool.creator }
}

async function readCurveSources({ chain, store }: Context, curve: DbcPool) {
  const isLeft = curve.isMigrated && curve.leftover.isPossible && !curve.leftover.withdrawn
  const [recorded, leftover, lock] = await Promise.all([
    claimedTradingFees(store.db, curve.address),
    isLeft ? readLeftover(chain, curve) : null,
    curve.hasVesting ? readLock(chain, await vestingEscrowAddress(curve.address)) : null,
  ])
  const unixSeconds = BigInt(lock?.at.unixSeconds ?? 0)
  return curveSources(curve, { leftover, escrow: lock?.escrow ?? null, unixSeconds, recorded })
}

function mintsOf(curve: DbcPool | null, damm: DammV2Pool | null) {
  if (curve !== null) {
    const { baseMint, decimals, quoteMint, quoteDecimals } = curve
    return { base_mint: baseMint, base_decimals: decimals, quote_mint: quoteMint, quote_decimals: quoteDecimals }
  }
  return {
    base_mint: damm?.tokenAMint ?? '',
    base_decimals: damm?.tokenADecimals ?? 0,
    quote_mint: damm?.tokenBMint ?? '',
    quote_decimals: damm?.tokenBDecimals ?? 0,
  }
}
