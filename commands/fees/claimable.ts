/** Finds what `svc fees claim --all` can claim: every kind of every pool that may hold something for a party. */
import { type Beneficiary, FEE_CLAIM_KINDS, type FeeClaimKind } from '../../src/api/fee-claims.ts'
import type { Pool } from '../../src/api/pools.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { pagesOf } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'
import { failedRow } from '../lists/run.ts'
import type { ShownAmounts } from './amounts.ts'
import { prepareClaim } from './one-claim.ts'

export interface ClaimRow {
  pool_address: string
  symbol: string | null
  kind: FeeClaimKind
  /** The estimated amount in raw units of the quote; null if it is unknown. */
  estimated_quote: string | null
  /** The amounts of the API's answer; empty if the list of pools has them. */
  amounts: Partial<ShownAmounts>
  signature: string | null
  status: 'to claim' | 'claimed' | 'submitted' | 'proposed' | 'waits' | 'failed'
  /** The proposal to a multisig that claims it; absent without one. */
  proposal?: string
  error: string | null
}

interface ClaimSearch {
  kind: FeeClaimKind | undefined
  beneficiary: Beneficiary | undefined
  owner: string | undefined
  /** Least lamports that are worth a claim. */
  least: bigint
  payer: string
  /** Who claims only what is paid to itself, in words; null for a keypair, whose claims of others fail. */
  only: 'the platform wallet' | 'the vault' | null
}

/** The API's reasons for a claim that holds nothing: never, not any more, or not yet. */
const EMPTY_REASONS: readonly unknown[] = ['nothing_to_claim', 'withdrawn', 'too_early']

/** Every possible claim of every page of pools; amounts that the list does not contain are requested pool by pool. */
export async function claimableFees(session: Session, search: ClaimSearch): Promise<ClaimRow[]> {
  const { kind, beneficiary, payer, least } = search
  const rows: ClaimRow[] = []
  // A creator's earnings are paid only to its own wallet.
  const filter = beneficiary === 'creator' ? { creator: payer } : {}
  let read = 0
  let foreign = 0
  for await (const { data } of pagesOf((paging) => session.client.pools.list({ ...paging, ...filter }))) {
    for (const pool of data) {
      session.ui.progress('Reading pools')(++read, 0)
      if (search.only !== null && beneficiary !== 'creator' && isForeignPartner(pool, payer)) {
        foreign++
        continue
      }
      for (const each of kindsOf(pool, beneficiary)) {
        if (kind !== undefined && each !== kind) continue
        const row = await readClaimRow(session, pool, each, search)
        if (row !== null && (row.status === 'failed' || solIn(row) >= least)) rows.push(row)
      }
    }
  }
  if (foreign > 0) {
    const which = foreign === 1 ? '1 pool pays another partner' : `${foreign} pools pay other partners`
    const flag = search.only === 'the vault' ? '--squads' : '--signed'
    session.ui.note(`${which} than ${search.only}: claim with the keypair of the partner, without ${flag}`)
  }
  return rows
}

/** Whether the partner of a curve is another wallet; false if the chain could not be read. */
function isForeignPartner({ type, state }: Pool, payer: string): boolean {
  const { feeClaimer } = fieldsOf(fieldsOf(state).config)
  return type === 'dbc' && typeof feeClaimer === 'string' && feeClaimer !== payer
}

/** Lamports that a claim pays. Tokens and other quotes are not counted. */
export function solIn({ estimated_quote, amounts }: Pick<ClaimRow, 'estimated_quote' | 'amounts'>): bigint {
  const { quote_mint = WRAPPED_SOL, estimated_lamports = '0' } = amounts
  return (quote_mint === WRAPPED_SOL ? BigInt(estimated_quote ?? 0) : 0n) + BigInt(estimated_lamports)
}

type RawState = Record<string, unknown>

/** The kinds that may hold something, by the state in the list; the API is asked about each. */
function kindsOf(pool: Pool, beneficiary: Beneficiary = 'partner'): readonly FeeClaimKind[] {
  const { type, status } = pool
  if (status === 'pending' || status === 'failed') return []
  if (type === 'damm_v2') return ['damm_v2']
  const metrics = fieldsOf(pool.fee_metrics)
  const raw = fieldsOf(pool.state)
  const [held, config] = [fieldsOf(fieldsOf(raw.pool).poolState), fieldsOf(raw.config)]
  const isCreator = beneficiary === 'creator'
  const has = (value: unknown) => value !== undefined && value !== null && String(value) !== '0'
  // The record may lag behind the chain.
  const isMigrated = status === 'migrated' || has(held.isMigrated)
  const isFull = isMigrated || status === 'migration_triggered' || has(held.migrationProgress)
  const vesting = fieldsOf(config.lockedVestingConfig)
  const possible: Record<FeeClaimKind, boolean> = {
    // If the chain could not be read, the row says so.
    dbc: pool.fee_metrics === null || !isCreator || has(held.creatorQuoteFee) || has(held.creatorBaseFee),
    damm_v2: false,
    surplus: isCreator
      ? isFull && !has(held.isCreatorWithdrawSurplus) && has(config.creatorTradingFeePercentage)
      : metrics.surplus_status === 'available',
    migration_fee: isFull && has(config.migrationFeePercentage),
    leftover: !isCreator && isMigrated && has(config.fixedTokenSupplyFlag) && !has(held.isWithdrawLeftover),
    pool_creation_fee: !isCreator && has(config.poolCreationFee),
    vesting: isCreator && isMigrated && (has(vesting.cliffUnlockAmount) || has(vesting.amountPerPeriod)),
  }
  return FEE_CLAIM_KINDS.filter((kind) => possible[kind])
}

const fieldsOf = (value: unknown): RawState => (typeof value === 'object' && value !== null ? (value as RawState) : {})

/** The row of one claim; null if there is nothing to claim. */
async function readClaimRow(
  session: Session,
  pool: Pool,
  kind: FeeClaimKind,
  { beneficiary, owner, payer }: ClaimSearch,
): Promise<ClaimRow | null> {
  const { address, symbol } = pool
  const row: ClaimRow = {
    pool_address: address,
    symbol,
    kind,
    estimated_quote: null,
    amounts: {},
    signature: null,
    status: 'to claim',
    error: null,
  }
  if (pool.type === 'dbc' && pool.fee_metrics === null) {
    return { ...row, status: 'failed', error: 'the chain could not be read' }
  }
  // Most pools hold only fees in SOL, which the list has.
  const metrics = fieldsOf(pool.fee_metrics)
  if (kind === 'dbc' && beneficiary !== 'creator' && (pool.quote_mint ?? WRAPPED_SOL) === WRAPPED_SOL) {
    const [fee, base] = [metrics.partner_quote_fee ?? '0', metrics.partner_base_fee ?? '0'].map(String)
    if (base === '0') return fee === '0' ? null : { ...row, estimated_quote: fee ?? '0' }
  }
  try {
    const claim = { address, kind, beneficiary, owner: kind === 'damm_v2' ? owner : undefined, splits: undefined }
    const amounts = await prepareClaim(session, claim, payer, { dry_run: true })
    return { ...row, estimated_quote: amounts.estimated_quote ?? '0', amounts }
  } catch (error) {
    if (error instanceof ApiError && EMPTY_REASONS.includes(error.details?.reason)) return null
    return { ...row, ...failedRow(error) }
  }
}
