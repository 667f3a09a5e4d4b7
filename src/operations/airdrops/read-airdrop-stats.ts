/** Reads the figures of an airdrop: the total claimed from the chain, and the course of the claims from the records. */
import type { AirdropStats } from '../../api/airdrop-claims.ts'
import type { Airdrop, Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { DAY_MS, HOUR_MS, isoTime } from '../../platform/timing.ts'
import { findAirdrop } from '../../store/airdrops/airdrops.ts'
import { type ClaimFigures, type ClaimWindow, claimFigures, claimWindows } from '../../store/airdrops/claim-figures.ts'
import { isoTimeOrNull } from '../api-records.ts'
import { getAirdrop } from './reads.ts'

type StatsRoute = Api['airdrops']['stats']
type Recorded = AirdropStats['recorded']

const HOURS_PER_DAY = DAY_MS / HOUR_MS
/** Decimal places of a share. */
const SHARE_UNITS = 1_000_000n

/** While the node fails, only the figures from the records are returned. */
export async function readAirdropStats(
  context: Context,
  { id, hours, days }: Input<StatsRoute>,
): Promise<Result<StatsRoute>> {
  const { store, clock } = context
  const airdrop = await getAirdrop(context, { id })
  const of = { genesis: await genesisFor(context, airdrop), airdrop_id: id }
  const now = clock.now()
  const sinceHour = startOf(now, HOUR_MS) - (Math.max(hours, HOURS_PER_DAY) - 1) * HOUR_MS
  const figures = await claimFigures(store.db, of)
  const byHour = await claimWindows(store.db, of, { since: sinceHour, hours: 1 })
  const sinceDay = startOf(now, DAY_MS) - (days - 1) * DAY_MS
  const byDay = await claimWindows(store.db, of, { since: sinceDay, hours: HOURS_PER_DAY })
  const shown = chainFigures(airdrop)
  const missing = shown.claimed_count === null ? null : Math.max(0, shown.claimed_count - figures.wallets)
  return {
    id,
    mint: airdrop.mint,
    status: airdrop.status,
    leaf_count: airdrop.leaf_count,
    total: airdrop.total,
    ...shown,
    vault_balance: airdrop.vault_balance,
    clawback_at: airdrop.clawback_at,
    clawed_back: airdrop.clawed_back,
    recorded: { ...recordedFigures(figures, byHour, now), missing_count: missing },
    hours: everyWindow(byHour, { now, length: HOUR_MS, count: hours }),
    days: everyWindow(byDay, { now, length: DAY_MS, count: days }),
    note: noteOf(airdrop.note, missing),
  }
}

/** The row names the chain on which a stored airdrop was last seen. */
async function genesisFor({ chain, store }: Context, { id, claimed_count }: Airdrop): Promise<string> {
  if (claimed_count !== null) return chain.genesisHash()
  const row = await findAirdrop(store.db, id)
  return row === null || row.genesis === '' ? chain.genesisHash() : row.genesis
}

/** Claims of another list's distributor do not count here. */
function chainFigures(airdrop: Airdrop) {
  const { leaf_count, total, root, on_chain_root, claimed_count, claimed_amount } = airdrop
  if (on_chain_root !== root || claimed_count === null || claimed_amount === null) {
    return {
      claimed_count: null,
      claimed_amount: null,
      claimed_count_share: null,
      claimed_amount_share: null,
      left_count: null,
      left_amount: null,
    }
  }
  const claimed = BigInt(claimed_amount)
  return {
    claimed_count,
    claimed_amount,
    claimed_count_share: shareOf(BigInt(claimed_count), BigInt(leaf_count)),
    claimed_amount_share: total === null ? null : shareOf(claimed, BigInt(total)),
    left_count: leaf_count === 0 ? null : Math.max(0, leaf_count - claimed_count),
    left_amount: total === null ? null : String(claimed > BigInt(total) ? 0n : BigInt(total) - claimed),
  }
}

function shareOf(part: bigint, whole: bigint): number | null {
  if (whole === 0n) return null
  return part >= whole ? 1 : Number((part * SHARE_UNITS) / whole) / Number(SHARE_UNITS)
}

function recordedFigures(
  figures: ClaimFigures,
  byHour: readonly ClaimWindow[],
  now: number,
): Omit<Recorded, 'missing_count'> {
  const { claims, wallets, amount, amount_locked, median, first_at, last_at } = figures
  const since = Math.max(startOf(now, HOUR_MS) - (HOURS_PER_DAY - 1) * HOUR_MS, first_at ?? 0)
  const recent = byHour.filter(({ at }) => at + HOUR_MS > since)
  const elapsed = Math.max(1, (now - since) / HOUR_MS)
  const count = recent.reduce((sum, window) => sum + window.claims, 0)
  return {
    claims,
    wallets,
    amount: String(amount + amount_locked),
    median_amount: median === null ? null : String(median),
    claims_per_hour: Math.round((count / elapsed) * 10) / 10,
    first_claim_at: isoTimeOrNull(first_at),
    last_claim_at: isoTimeOrNull(last_at),
  }
}

const startOf = (moment: number, length: number) => Math.floor(moment / length) * length

/** Returns every recent window, including those without claims. */
function everyWindow(
  found: readonly ClaimWindow[],
  { now, length, count }: { now: number; length: number; count: number },
): AirdropStats['hours'] {
  const byStart = new Map(found.map((window) => [window.at, window]))
  const last = startOf(now, length)
  return Array.from({ length: count }, (_, i) => {
    const at = last - (count - 1 - i) * length
    const window = byStart.get(at)
    const amount = window === undefined ? 0n : window.amount + window.amount_locked
    return { at: isoTime(at), claims: window?.claims ?? 0, wallets: window?.wallets ?? 0, amount: String(amount) }
  })
}

function noteOf(note: string | null, missing: number | null): string | null {
  if (missing === null || missing === 0) return note
  const what = `${missing} of the wallets that have claimed are not recorded here: they claimed before this installation followed the airdrop, or just now`
  return note === null ? what : `${note}. ${what}`
}
