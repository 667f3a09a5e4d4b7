/** Reads the launch curve and the pools of a token, and which part of their liquidity can be withdrawn. */
import type { TokenReportPools } from '../../../api/token-report.ts'
import {
  type DammV2Pool,
  type LockedLiquidity,
  lockedForGood,
  lockedLiquidity,
  poolsOfMint,
} from '../../../chain/programs/damm-v2/index.ts'
import { type DbcPool, findCurves, readDbcPools } from '../../../chain/programs/dbc/index.ts'
import { unpaidLocksOfMint } from '../../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../../chain/reads/chain-clock.ts'
import { accountsAt } from '../../../chain/sending/runs.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { readTokenAccount } from '../../../solana/token-accounts.ts'
import { type Gaps, type ReportChain, readOrNoteGap } from './budget.ts'
import { lockFacts } from './lock-facts.ts'
import { relevantPools } from './relevant-pools.ts'
import { bpsOf } from './shares.ts'

type PoolRecord = Omit<TokenReportPools['pools'][number], 'frozen'>

interface Reading {
  slot: number
  at: ChainTime
}

const WHOLE_BPS = 10_000
/** The program permits one curve for a token; more would be a fault of the node. */
const MOST_CURVES = 10
/** A free position is looked for in locks if it has at least this part of its pool. */
const LEAST_PARTS = 100n

/** Throws what `poolsOfMint` throws. Pools whose positions could not be read have no parts, and a gap says so. */
export async function poolFacts(
  chain: ReportChain,
  mint: string,
  reading: Reading,
  gaps: Gaps,
): Promise<TokenReportPools> {
  const [addresses, damm] = await Promise.all([findCurves(chain, mint), poolsOfMint(chain, mint, reading.slot)])
  const curves = (await readDbcPools(chain, addresses.slice(0, MOST_CURVES))).filter(
    (curve) => curve?.baseMint === mint,
  )
  const open = curves.filter((curve): curve is DbcPool => curve !== null && !curve.isMigrated)
  if (curves.some((curve) => curve?.isMigrated && curve.migrationOption === 0)) {
    gaps.push({ part: 'pools', reason: 'The launch curve migrated to a pool of DAMM v1, which svc does not read' })
  }
  const sum = (amounts: readonly string[]) => String(amounts.reduce((total, amount) => total + BigInt(amount), 0n))
  const drafts = damm.pools.map((pool) => ({ pool, ...poolAmounts(pool, mint) }))
  const all = [...open.map(curveRecord), ...drafts]
  const base_amount = sum(all.map((each) => each.base_amount))
  const frozen = await frozenPools(chain, [...open, ...damm.pools])
  const parts = await lockedParts(chain, inOrder(all, BigInt(base_amount)), reading, gaps)
  const pools = all.map((each) => ({
    ...('pool' in each ? poolRecord(each, parts.get(each.address)) : each),
    frozen: frozen.has(each.address),
  }))
  return {
    found: open.length + damm.found,
    base_amount,
    sol_amount: sum(
      pools.filter(({ quote_mint }) => quote_mint === WRAPPED_SOL).map(({ quote_amount }) => quote_amount),
    ),
    pools,
  }
}

/** Pools with a frozen vault. Throws internal_error when the node fails. */
async function frozenPools(chain: ReportChain, pools: readonly (DbcPool | DammV2Pool)[]): Promise<ReadonlySet<string>> {
  const vaults = pools.flatMap((pool) =>
    'baseVault' in pool ? [pool.baseVault, pool.quoteVault] : [pool.tokenAVault, pool.tokenBVault],
  )
  const accounts = await accountsAt(chain, vaults)
  const isFrozen = (i: number) => {
    const account = accounts[i] ?? null
    return account !== null && readTokenAccount(account)?.state === 'frozen'
  }
  return new Set(pools.flatMap(({ address }, i) => (isFrozen(2 * i) || isFrozen(2 * i + 1) ? [address] : [])))
}

type PoolDraft = ReturnType<typeof poolAmounts> & { pool: DammV2Pool }

/** Pools of DAMM v2 whose positions matter, those that decide the verdict first. */
function inOrder(all: readonly (PoolRecord | PoolDraft)[], baseAmount: bigint): PoolDraft[] {
  const relevant = new Set(relevantPools(all, baseAmount))
  const drafts = all.filter((each): each is PoolDraft => 'pool' in each)
  return [...drafts.filter((each) => relevant.has(each)), ...drafts.filter((each) => !relevant.has(each))]
}

/** The locked parts by pool, up to the first that could not be read. */
async function lockedParts(
  chain: ReportChain,
  pools: readonly PoolDraft[],
  reading: Reading,
  gaps: Gaps,
): Promise<ReadonlyMap<string, LockedLiquidity>> {
  const parts = new Map<string, LockedLiquidity>()
  for (const { pool, address } of pools) {
    const rest = pools.length - parts.size
    const say = (reason: string) => `Who can withdraw the liquidity of ${rest} of the pools was not read: ${reason}`
    const read = await readOrNoteGap(gaps, 'pools', () => withLocks(chain, pool, reading), say)
    if (read === null) break
    parts.set(address, read)
  }
  return parts
}

/** A position whose NFT is in a lock that nobody can cancel can be used once the lock has paid it out. */
async function withLocks(chain: ReportChain, pool: DammV2Pool, reading: Reading): Promise<LockedLiquidity> {
  const read = await lockedLiquidity(chain, pool, reading)
  let { vesting } = read
  for (const { nftMint, liquidity } of read.free) {
    if (liquidity * LEAST_PARTS < pool.liquidity) continue
    const {
      locked,
      vesting: later,
      cancellable,
    } = lockFacts(await unpaidLocksOfMint(chain, nftMint, reading.slot), reading.at)
    // An NFT is one unit, so a lock holds all of it or nothing.
    if (BigInt(locked) + BigInt(later) === 1n && cancellable === '0') vesting += liquidity
  }
  return { ...read, vesting }
}

/** Until a curve migrates, nobody can take its liquidity out of the program. */
const curveRecord = (curve: DbcPool): PoolRecord => ({
  address: curve.address,
  type: 'dbc',
  quote_mint: curve.quoteMint,
  quote_decimals: curve.quoteDecimals,
  base_amount: String(curve.baseReserve),
  quote_amount: String(curve.quoteReserve),
  locked_bps: WHOLE_BPS,
  vesting_bps: 0,
  unlocked_bps: 0,
  burned_positions: [],
  migrated_locked_bps: Math.min(curve.migratedLockedPercentage * 100, WHOLE_BPS),
})

function poolAmounts(pool: DammV2Pool, mint: string) {
  const isA = pool.tokenAMint === mint
  return {
    address: pool.address,
    type: 'damm_v2' as const,
    quote_mint: isA ? pool.tokenBMint : pool.tokenAMint,
    quote_decimals: isA ? pool.tokenBDecimals : pool.tokenADecimals,
    base_amount: String(isA ? pool.tokenAAmount : pool.tokenBAmount),
    quote_amount: String(isA ? pool.tokenBAmount : pool.tokenAAmount),
  }
}

function poolRecord({ pool, ...amounts }: PoolDraft, parts: LockedLiquidity | undefined): PoolRecord {
  const locked_bps = bpsOf(parts?.locked ?? lockedForGood(pool), pool.liquidity)
  const vesting_bps = parts === undefined ? null : bpsOf(parts.vesting, pool.liquidity)
  // A pool without liquidity has nothing to withdraw.
  const rest = pool.liquidity === 0n ? 0 : WHOLE_BPS - locked_bps - (vesting_bps ?? 0)
  return {
    ...amounts,
    locked_bps,
    vesting_bps,
    unlocked_bps: vesting_bps === null ? null : rest,
    burned_positions: (parts?.burnt ?? []).map(({ position, nftMint, nftAccount }) => {
      return { address: position, nft_mint: nftMint, nft_account: nftAccount }
    }),
    migrated_locked_bps: null,
  }
}
