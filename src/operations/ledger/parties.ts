/** Determines whom an account in a transaction belongs to: the party of its owner, and the pool of a vault. */

import type { LedgerParty } from '../../api/ledger-names.ts'
import type { ExecutedBalances } from '../../chain/reads/executed-balances.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { DAMM_V2_POOL_AUTHORITY, DBC_POOL_AUTHORITY, PRESALE_AUTHORITY } from '../../solana/programs.ts'
import type { KnownAddresses, LedgerAct } from './acts.ts'
import type { RaiseMove } from './raise-moves.ts'

/** Receiver of the network fee: validators, which the transaction does not name. */
export const NETWORK = 'network'
/** Receiver of Meteora's own fees. */
const PROTOCOL_TREASURY = '6aYhxiNGmG8AyU25rh2R7iFu4pBrqnQHpNUGhmsEXRcm'
const AUTHORITIES: readonly string[] = [DBC_POOL_AUTHORITY, DAMM_V2_POOL_AUTHORITY]

export interface Parties {
  ownerOf(account: string): string
  partyOf(account: string): LedgerParty
  /** The pool of the account: the account is its vault, or the pool itself. */
  poolOf(account: string): string | null
}

export function partiesIn(
  { accounts }: ExecutedBalances,
  message: DecodedMessage,
  { acts, raises, known }: { acts: readonly LedgerAct[]; raises: readonly RaiseMove[]; known: KnownAddresses },
): Parties {
  const owners = new Map<string, string>()
  const mints = new Set<string>()
  for (const { address, holdings } of accounts) {
    for (const { owner, mint } of holdings) {
      owners.set(address, owner)
      mints.add(mint)
    }
  }
  const pools = new Set(acts.flatMap(({ pool }) => pool ?? []))
  const vaults = vaultsIn(message, pools, owners)
  const holders = new Map(acts.flatMap(({ holder, kind }) => (holder === null ? [] : [[holder, kind] as const])))
  const actors = new Map(acts.toReversed().flatMap(({ actor, party }) => (actor === null ? [] : [[actor, party]])))
  for (const { wallet, from, to, party } of raises) {
    for (const owner of [wallet, owners.get(from), owners.get(to)]) {
      if (owner == null || actors.has(owner)) continue
      actors.set(owner, party === 'trader' && known.platform.has(owner) ? 'platform' : party)
    }
  }
  const recipients = new Set(acts.flatMap((act) => act.recipients))
  const creators = new Set(known.creators.values())
  const ownerOf = (account: string) => owners.get(account) ?? account
  const poolOf = (account: string) => (pools.has(account) ? account : (vaults.get(account) ?? null))
  function partyOf(account: string): LedgerParty {
    const owner = ownerOf(account)
    if (account === NETWORK) return 'network'
    if (poolOf(account) !== null || AUTHORITIES.includes(owner)) return 'pool'
    if (owner === PRESALE_AUTHORITY) return 'raise'
    const holder = holders.get(owner)
    if (holder !== undefined) return holder.startsWith('airdrop') || holder === 'withdrawal' ? 'airdrop' : 'lock'
    const party = actors.get(owner)
    if (party !== undefined) return party
    if (known.platform.has(owner)) return 'platform'
    if (creators.has(owner)) return 'creator'
    if (recipients.has(owner)) return 'recipient'
    if (owner === PROTOCOL_TREASURY) return 'protocol'
    return mints.has(account) ? 'mint' : 'other'
  }
  return { ownerOf, partyOf, poolOf }
}

/** Finds the vaults of each pool: accounts of the program's authority in the same instruction as the pool. */
function vaultsIn(
  { keys, instructions }: DecodedMessage,
  pools: ReadonlySet<string>,
  owners: ReadonlyMap<string, string>,
): Map<string, string> {
  const vaults = new Map<string, string>()
  for (const { accounts } of instructions) {
    const named = Array.from(accounts, (index) => keys[index] ?? '')
    const pool = named.find((account) => pools.has(account))
    if (pool === undefined) continue
    for (const account of named) {
      if (AUTHORITIES.includes(owners.get(account) ?? '') && !vaults.has(account)) vaults.set(account, pool)
    }
  }
  return vaults
}
