/** Reads the earnings of a pool for partner, creator and protocol, before and after its migration. */

import type { Beneficiary } from '../../api/fee-claims.ts'
import type { Api } from '../../api/index.ts'
import type { EarnedAmountsRecord, EarningSource, PartyEarnings } from '../../api/pool-earnings.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  type DammV2Earned,
  type DammV2Pool,
  type EarnedSides,
  readDammV2Earned,
} from '../../chain/programs/damm-v2/index.ts'
import {
  type DbcPool,
  migratedPoolAddress,
  readLeftover,
  vestingEscrowAddress,
} from '../../chain/programs/dbc/index.ts'
import { readLock } from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { lockAmounts } from '../../solana/lock-schedule.ts'
import type { Escrow } from '../../solana/programs/jupiter-lock.ts'
import { claimedTradingFees } from '../../store/fees/fee-claims.ts'
import { findPool } from '../../store/resources/pools.ts'
import { trySigner } from '../signing/require-signer.ts'
import { readPools, requirePool } from './on-chain.ts'
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

/** Raw units; null for amounts that the chain does not show. */
interface Amounts {
  accrued: bigint | null
  claimable: bigint | null
  claimed: bigint | null
}
type TokenName = 'quote' | 'base' | 'lamports'
const TOKENS: readonly TokenName[] = ['quote', 'base', 'lamports']

interface PartySource extends Partial<Record<TokenName, Amounts>> {
  kind: EarningSource['kind']
  pool: string
  wallet: string | null
  locked?: bigint
}

interface EarningParty {
  party: PartyEarnings['party']
  sources: readonly PartySource[]
}

interface CurveSources {
  partner: PartySource[]
  creator: PartySource[]
  protocol: PartySource[]
}

/** Amounts that the program counts: the total, the remainder, and so the paid part. */
const counted = (accrued: bigint, claimable: bigint): Amounts => ({ accrued, claimable, claimed: accrued - claimable })

/** Amounts that are paid at once: either all or nothing was claimed. */
const once = (amount: bigint, withdrawn: boolean): Amounts => counted(amount, withdrawn ? 0n : amount)

/** What was paid to each of the two according to records here. */
type RecordedClaims = Record<Beneficiary, { quote: bigint; base: bigint }>

/**
 * The amount paid to one of two parties is known in three cases: the other has no share, neither has claimed anything,
 * or the records here add up to the counters of both.
 */
function ofTwo(
  together: Amounts,
  { claimable, percentage, recorded }: { claimable: bigint; percentage: number; recorded: bigint | null },
): Amounts {
  if (percentage === 0) return counted(0n, 0n)
  if (percentage === 100) return counted(together.accrued ?? 0n, claimable)
  const claimed = together.claimed === 0n ? 0n : recorded
  return { accrued: claimed === null ? null : claimed + claimable, claimable, claimed }
}

/** Returns the trading fees of partner and creator together, which the curve counts exactly. */
function sharedTradingFees(pool: DbcPool): { quote: Amounts; base: Amounts } {
  const { tradingFees } = pool.earned
  return {
    quote: counted(tradingFees.quote, pool.partnerQuoteFee + pool.creatorQuoteFee),
    base: counted(tradingFees.base, pool.partnerBaseFee + pool.creatorBaseFee),
  }
}

interface BesideCurve {
  /** The remaining leftover; null if it was not read. */
  leftover: bigint | null
  escrow: Escrow | null
  unixSeconds: bigint
  /** Claims of trading fees with a record; null if they were not added up. */
  recorded: RecordedClaims | null
}

function curveSources(pool: DbcPool, { leftover, escrow, unixSeconds, recorded }: BesideCurve): CurveSources {
  const { address, earned, feeClaimer, creator, leftoverReceiver } = pool
  const together = sharedTradingFees(pool)
  const { creatorPercentage } = earned
  const recordedOf = (token: keyof typeof together, party: Beneficiary) =>
    recorded !== null && recorded.partner[token] + recorded.creator[token] === together[token].claimed
      ? recorded[party][token]
      : null
  const fees = (party: Beneficiary, { quote, base }: { quote: bigint; base: bigint }) => {
    const percentage = party === 'creator' ? creatorPercentage : 100 - creatorPercentage
    return {
      quote: ofTwo(together.quote, { claimable: quote, percentage, recorded: recordedOf('quote', party) }),
      base: ofTwo(together.base, { claimable: base, percentage, recorded: recordedOf('base', party) }),
    }
  }
  const of = (kind: PartySource['kind'], wallet: string | null, amounts: Partial<PartySource>): PartySource => ({
    kind,
    pool: address,
    wallet,
    ...amounts,
  })
  const partner = [
    of('dbc', feeClaimer, fees('partner', { quote: pool.partnerQuoteFee, base: pool.partnerBaseFee })),
    of('surplus', feeClaimer, { quote: once(earned.surplus.partner, pool.surplus.withdrawn) }),
    of('migration_fee', feeClaimer, { quote: once(earned.migrationFee.partner, pool.migrationFee.withdrawn) }),
    of('pool_creation_fee', feeClaimer, { lamports: once(earned.creationFee.partner, pool.creationFee.withdrawn) }),
  ]
  if (pool.leftover.isPossible) {
    const base = pool.leftover.withdrawn
      ? { accrued: null, claimable: 0n, claimed: null }
      : counted(leftover ?? 0n, leftover ?? 0n)
    partner.push(of('leftover', leftoverReceiver, { base }))
  }
  const ofCreator = [
    of('dbc', creator, fees('creator', { quote: pool.creatorQuoteFee, base: pool.creatorBaseFee })),
    of('surplus', creator, { quote: once(earned.surplus.creator, pool.creatorSurplus.withdrawn) }),
    of('migration_fee', creator, { quote: once(earned.migrationFee.creator, pool.creatorMigrationFee.withdrawn) }),
  ]
  if (pool.hasVesting) ofCreator.push(vestingSource(pool, escrow, unixSeconds))
  const protocol = [
    of('dbc', null, {
      quote: counted(earned.protocolFees.quote, pool.protocolQuoteFee),
      base: counted(earned.protocolFees.base, pool.protocolBaseFee),
    }),
    of('surplus', null, { quote: once(earned.surplus.protocol, earned.protocolTookSurplus) }),
    of('migration_fee', null, {
      quote: { accrued: earned.protocolMigration.quote, claimable: null, claimed: null },
      base: { accrued: earned.protocolMigration.base, claimable: null, claimed: null },
    }),
    of('pool_creation_fee', null, {
      lamports: { accrued: earned.creationFee.protocol, claimable: null, claimed: null },
    }),
  ]
  return { partner, creator: ofCreator, protocol }
}

/** The migration locks tokens for the creator at that time. */
function vestingSource({ address, creator }: DbcPool, escrow: Escrow | null, unixSeconds: bigint): PartySource {
  const source = { kind: 'vesting', pool: address } as const
  if (escrow === null) return { ...source, wallet: creator, base: counted(0n, 0n) }
  const { total, claimable } = lockAmounts(escrow, unixSeconds)
  const accrued = claimable + escrow.claimed
  return { ...source, wallet: escrow.recipient, base: counted(accrued, claimable), locked: total - accrued }
}

/** Adds up what the wallets' positions in a DAMM v2 pool have earned; `a` is the token of the launch. */
function positionSource(pool: string, earned: DammV2Earned, wallets: readonly string[]): PartySource {
  const sides = wallets.flatMap((wallet) => earned.byOwner.get(wallet) ?? [])
  const sum = (side: keyof EarnedSides): Amounts => ({
    accrued: sides.reduce((total, each) => total + each[side].accrued, 0n),
    claimable: sides.reduce((total, each) => total + each[side].claimable, 0n),
    claimed: sides.reduce((total, each) => total + each[side].claimed, 0n),
  })
  const [only, another] = wallets
  return {
    kind: 'damm_v2',
    pool,
    wallet: another === undefined ? (only ?? null) : null,
    base: sum('a'),
    quote: sum('b'),
  }
}

/** The rest of the pool's total, which is at least what the positions that were read have earned. */
function othersSource(pool: string, { positions }: DammV2Earned, known: readonly PartySource[]): PartySource {
  const rest = (total: bigint, token: 'base' | 'quote'): Amounts => {
    const left = known.reduce((sum, source) => sum - (source[token]?.accrued ?? 0n), total)
    return { accrued: left < 0n ? null : left, claimable: null, claimed: null }
  }
  return { kind: 'damm_v2', pool, wallet: null, base: rest(positions.a, 'base'), quote: rest(positions.b, 'quote') }
}

const protocolSource = (pool: string, { protocol }: DammV2Earned): PartySource => ({
  kind: 'damm_v2',
  pool,
  wallet: null,
  base: protocol.a,
  quote: protocol.b,
})

/** A sum is null if one of its parts is. Sources that can never pay anything are left out. */
function partyRecord({ party, sources }: EarningParty): PartyEarnings {
  const shown = sources.filter((source) => source.kind === 'dbc' || source.kind === 'damm_v2' || !isEmpty(source))
  const records = shown.map(({ kind, pool, wallet, locked, ...amounts }) => ({
    kind,
    pool_address: pool,
    wallet,
    quote: asTextOrNull(amounts.quote),
    base: asTextOrNull(amounts.base),
    lamports: asTextOrNull(amounts.lamports),
    ...(locked === undefined ? {} : { locked: String(locked) }),
  }))
  const totals = TOKENS.map(
    (token) => [token, asTextOrNull(sumOf(shown.flatMap((source) => source[token] ?? [])))] as const,
  )
  return { party, ...(Object.fromEntries(totals) as Record<TokenName, EarnedAmountsRecord | null>), sources: records }
}

const isEmpty = (source: PartySource): boolean =>
  source.locked === undefined &&
  TOKENS.every((token) => {
    const amounts = source[token]
    return amounts === undefined || (amounts.accrued === 0n && (amounts.claimable ?? 0n) === 0n)
  })

function sumOf(all: readonly Amounts[]): Amounts | undefined {
  if (all.length === 0) return undefined
  const sum = (field: keyof Amounts) =>
    all.reduce<bigint | null>((total, { [field]: each }) => (total === null || each === null ? null : total + each), 0n)
  return { accrued: sum('accrued'), claimable: sum('claimable'), claimed: sum('claimed') }
}

function asText({ accrued, claimable, claimed }: Amounts): EarnedAmountsRecord {
  const digitsOf = (amount: bigint | null) => (amount === null ? null : String(amount))
  return { accrued: digitsOf(accrued), claimable: digitsOf(claimable), claimed: digitsOf(claimed) }
}

const asTextOrNull = (amounts: Amounts | undefined) => (amounts === undefined ? null : asText(amounts))
