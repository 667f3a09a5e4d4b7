/** Extracts from a launch curve's account its creator, and the fields that claims change and trades never do. */
import type { ChainAccount } from '../../../solana/accounts.ts'
import { DBC } from '../../../solana/programs/dbc.ts'

/** Bit of the creator in the state of the migration fee. */
const CREATOR_TOOK_FEE = 0b010

type PoolAccount = Pick<ChainAccount, 'owner' | 'data'> | null

/**
 * Returns a value that changes when the creator claims or transfers its role, or null while `wallet` is the creator
 * and nothing was claimed. The claimed amount is all earnings minus the unclaimed ones, of partner and creator
 * together, so claims of the partner change it too.
 */
export function creatorPart(account: PoolAccount, wallet: string): Uint8Array | null {
  const pool = curveIn(account)
  if (pool === null) return null
  const claimed = [
    pool.total_trading_base_fee - pool.partner_base_fee - pool.creator_base_fee,
    pool.total_trading_quote_fee - pool.partner_quote_fee - pool.creator_quote_fee,
    BigInt(pool.is_creator_withdraw_surplus),
    BigInt(pool.migration_fee_withdraw_status & CREATOR_TOOK_FEE),
  ]
  if (pool.creator === wallet && claimed.every((each) => each === 0n)) return null
  return Buffer.from([pool.creator, ...claimed].join(' '))
}

/** Returns the creator that a launch curve's account names, or null for another account. */
export const creatorOf = (account: PoolAccount): string | null => curveIn(account)?.creator ?? null

/** Returns a value that changes when the leftover is paid out, or null before. */
export function leftoverPart(account: PoolAccount): Uint8Array | null {
  const paid = curveIn(account)?.is_withdraw_leftover ?? 0
  return paid === 0 ? null : Uint8Array.of(paid)
}

const curveIn = (account: PoolAccount) =>
  DBC.decode('virtual_pool', account) ?? DBC.decode('transfer_hook_pool', account)
