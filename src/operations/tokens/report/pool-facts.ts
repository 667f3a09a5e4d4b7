/** Reads the launch curve and the pools of a token, and which part of their liquidity can be withdrawn. */
import type { TokenReportPools } from '../../../api/token-report.ts'
import { type PoolOfMint, poolsOfMint } from '../../../chain/programs/damm-v2/index.ts'
import { type DbcPool, findCurves, readDbcPools } from '../../../chain/programs/dbc/index.ts'
import type { ChainTime } from '../../../chain/reads/chain-clock.ts'
import type { Context } from '../../../context.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import type { Gaps } from './gaps.ts'
import { bpsOf } from './shares.ts'

type PoolRecord = TokenReportPools['pools'][number]

const WHOLE_BPS = 10_000
/** The program permits one curve for a token; more would be a fault of the node. */
const MOST_CURVES = 10

/** Throws what `poolsOfMint` throws. */
export async function poolFacts(
  { chain }: Context,
  mint: string,
  reading: { slot: number; at: ChainTime },
  gaps: Gaps,
): Promise<TokenReportPools> {
  const [addresses, damm] = await Promise.all([findCurves(chain, mint), poolsOfMint(chain, mint, reading)])
  const curves = (await readDbcPools(chain, addresses.slice(0, MOST_CURVES))).filter(
    (curve) => curve?.baseMint === mint,
  )
  const open = curves.filter((curve): curve is DbcPool => curve !== null && !curve.isMigrated)
  if (curves.some((curve) => curve?.isMigrated && curve.migrationOption === 0)) {
    gaps.push({ part: 'pools', reason: 'The launch curve migrated to a pool of DAMM v1, which svc does not read' })
  }
  const pools = [...open.map(curveRecord), ...damm.pools.map((pool) => poolRecord(pool, mint))]
  const sum = (amounts: readonly string[]) => String(amounts.reduce((total, amount) => total + BigInt(amount), 0n))
  return {
    found: open.length + damm.found,
    base_amount: sum(pools.map(({ base_amount }) => base_amount)),
    sol_amount: sum(
      pools.filter(({ quote_mint }) => quote_mint === WRAPPED_SOL).map(({ quote_amount }) => quote_amount),
    ),
    pools,
  }
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
  migrated_locked_bps: Math.min(curve.migratedLockedPercentage * 100, WHOLE_BPS),
})

function poolRecord({ pool, locked, vesting }: PoolOfMint, mint: string): PoolRecord {
  const isA = pool.tokenAMint === mint
  const [locked_bps, vesting_bps] = [bpsOf(locked, pool.liquidity), bpsOf(vesting, pool.liquidity)]
  // A pool without liquidity has nothing to withdraw.
  const unlocked_bps = pool.liquidity === 0n ? 0 : WHOLE_BPS - locked_bps - vesting_bps
  return {
    address: pool.address,
    type: 'damm_v2',
    quote_mint: isA ? pool.tokenBMint : pool.tokenAMint,
    quote_decimals: isA ? pool.tokenBDecimals : pool.tokenADecimals,
    base_amount: String(isA ? pool.tokenAAmount : pool.tokenBAmount),
    quote_amount: String(isA ? pool.tokenBAmount : pool.tokenAAmount),
    locked_bps,
    vesting_bps,
    unlocked_bps,
    migrated_locked_bps: null,
  }
}
