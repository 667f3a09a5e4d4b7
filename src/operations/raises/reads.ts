/** Reads raises: those recorded here, and any one from the chain. */
import type { Api } from '../../api/index.ts'
import type { BuyerAct, RaiseListed, Raise as RaiseRecord } from '../../api/raises.ts'
import type { Input, Result } from '../../api/route.ts'
import { type Raise, type RaiseDecimals, raiseStateAt, readOpening } from '../../chain/programs/presale/index.ts'
import { readMultisig } from '../../chain/programs/squads/index.ts'
import type { SiteVault } from '../../claim-page/site/site-subject.ts'
import type { Context } from '../../context.ts'
import { isoTime } from '../../platform/timing.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { tokenText } from '../../solana/amounts.ts'
import { keyFault } from '../../solana/bare-addresses.ts'
import { unlockText } from '../../solana/lock-schedule.ts'
import { settlementText } from '../../solana/raise-due.ts'
import { vaultAddress } from '../../solana/squads/index.ts'
import { allowlistsOf } from '../../store/resources/raise-allowlists.ts'
import { findRaise, pageRaises, type RaiseRow } from '../../store/resources/raises.ts'
import { listOf } from '../api-records.ts'
import { knownVault } from '../proposals/squads/known-vault.ts'
import { cleanLabel } from '../tokens/labels.ts'
import { termsRecord } from './record.ts'
import { requireRaise } from './require-raise.ts'
import { planOf, readSettlement } from './settle-raise.ts'

type Routes = Api['raises']

/** Most characters of a URL that somebody has written on chain. */
const MOST_URL = 256

/** A stored plan belongs to the raise that was built here, whose account has its own address. */
export async function getRaise(context: Context, { id }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  const { chain, store } = context
  const [found, row, lists] = await Promise.all([
    requireRaise(context, id),
    findRaise(store.db, id),
    allowlistsOf(store.db, id),
  ])
  const { raise, at } = found
  const pool = planOf(row)
  const [opening, settlement, vault] = await Promise.all([
    raise.allowlist === 'none' ? null : readOpening(chain, id),
    readSettlement(chain, found, pool),
    vaultRulesOf(context, raise.creator, row),
  ])
  const [token, quote] = [settlement.tokens.token, settlement.quotes.token]
  const decimals = { token: token?.decimals ?? 0, quote: quote?.decimals ?? 0 }
  const isShut = raise.allowlist === 'merkle' && opening?.roots.every((root) => root === null) === true
  const now = BigInt(at.unixSeconds)
  const by = 'creator' as const
  const opens = { act: 'open' as const, by, text: 'Open it to its allowlist: until then nobody can deposit' }
  const creatorsDue = settlement.due.acts.map((act) => ({ act, by, text: settlementText(act, raise.unsold) }))
  return {
    id,
    base: raise.base,
    ...termsRecord(raise, decimals),
    decimals: decimals.token,
    quote_decimals: decimals.quote,
    state: raiseStateAt(raise, now),
    state_text: stateText(raise, decimals, now),
    deposited: String(raise.deposited),
    fees: String(raise.fees),
    buyers: String(raise.escrows),
    claimed: String(raise.claimed),
    refunded: String(raise.refunded),
    withdrawn: raise.creatorWithdrawn,
    fee_collected: raise.feesCollected,
    unsold_done: raise.unsoldDone,
    root: lists[0]?.root ?? null,
    root_version: lists[0]?.version ?? null,
    url: cleanLabel(opening?.url, MOST_URL),
    pool,
    pool_address: row?.pool_address ?? null,
    settle: row?.settle === 1,
    settle_error: row?.settle_error ?? null,
    creator_vault: vault,
    due: [...(isShut && now < raise.endsAt ? [opens] : []), ...buyersDue(raise, now, isShut), ...creatorsDue],
    created_at: row === null ? null : isoTime(row.created_at),
  }
}

function stateText(raise: Raise, decimals: RaiseDecimals, now: bigint): string {
  const text = (raw: bigint) => tokenText(raise.quoteMint, raw, decimals.quote)
  const { deposited, minimum, maximum, startsAt, endsAt } = raise
  const sum = `${text(deposited)} of at least ${text(minimum)} and at most ${text(maximum)}`
  switch (raiseStateAt(raise, now)) {
    case 'not_started':
      return `It starts ${unlockText(startsAt)}`
    case 'ongoing':
      return `It takes deposits and ends ${unlockText(endsAt)}; deposited are ${sum}`
    case 'completed':
      return `It has ended with ${sum}, and buyers get their tokens`
    case 'failed':
      return `It has failed with ${sum}, and buyers take back what they paid`
  }
}

/** What buyers in general can do; GET /v2/raises/{id}/buyers/{wallet} says it of one. */
function buyersDue(raise: Raise, now: bigint, isShut: boolean): RaiseRecord['due'] {
  const state = raiseStateAt(raise, now)
  const takes = !isShut && (raise.mode === 'pro_rata' || raise.deposited < raise.maximum)
  const listed = raise.allowlist === 'none' ? '' : ', with a proof of the allowlist'
  const isEarlier = raise.releaseBps > 0 && raise.releaseAt < raise.vestingStartsAt
  const first = isEarlier ? raise.releaseAt : raise.vestingStartsAt
  const hasTokens = now >= first && raise.deposited > 0n && raise.claimed < raise.supply
  const isOver = state === 'completed' && raise.deposited > raise.maximum
  const failed = state === 'failed' && raise.refunded < raise.deposited
  const acts: readonly [BuyerAct, boolean, string][] = [
    ['deposit', state === 'ongoing' && takes, `Deposit${listed}`],
    ['withdraw', state === 'ongoing' && raise.withdrawable && raise.deposited > 0n, 'Withdraw a deposit'],
    ['claim', state === 'completed' && hasTokens, 'Claim the tokens that are released'],
    ['refund', failed || isOver, isOver ? 'Take back what exceeds the maximum' : 'Take back what was paid'],
  ]
  return acts.flatMap(([act, isDue, text]) => (isDue ? [{ act, by: 'buyers' as const, text }] : []))
}

/** The address of a vault does not lead to its multisig, which is stored with the raise or known by its proposals. */
export async function creatorVaultOf(
  context: Pick<Context, 'chain' | 'store' | 'config'>,
  creator: string,
  row: RaiseRow | null,
): Promise<SiteVault | null> {
  const [multisig, index] = row?.creator_vault?.split(':') ?? []
  const stored = multisig === undefined ? null : { multisig, vaultIndex: Number(index) }
  if (stored === null && keyFault(addressBytes(creator)) === null) return null
  const known = stored ?? (await knownVault(context, creator))
  if (known === null || vaultAddress(known.multisig, known.vaultIndex) !== creator) return null
  return { multisig: known.multisig, vault_index: known.vaultIndex }
}

async function vaultRulesOf(...of: Parameters<typeof creatorVaultOf>): Promise<RaiseRecord['creator_vault']> {
  const vault = await creatorVaultOf(...of)
  if (vault === null) return null
  const { threshold, timeLock, members, configAuthority } = await readMultisig(of[0].chain, vault.multisig, 'id')
  const voters = members.filter(({ vote }) => vote).length
  return { ...vault, threshold, members: voters, time_lock: timeLock, config_authority: configAuthority }
}

export function raiseListed(row: RaiseRow): RaiseListed {
  const { id, mint, quote_mint, creator, sale_mode, min, max, supply, state, deposited, pool_address } = row
  return {
    ...{ id, mint, quote_mint, creator, sale_mode, min, max, supply, state, deposited },
    ends_at: isoTime(row.ends_at),
    withdrawn: row.withdrawn === 1,
    pool_address,
    settle: row.settle === 1,
    settle_error: row.settle_error,
    created_at: isoTime(row.created_at),
  }
}

export const listRaises = listOf<Routes['list'], RaiseRow>(pageRaises, raiseListed)
