/** Extracts from a launch curve's account its creator, and the fields that claims change and trades never do. */
import type { ChainAccount } from '../../../solana/accounts.ts'
import { addressOf } from '../../../solana/addresses.ts'
import { PROGRAMS } from '../../../solana/programs.ts'

/** First bytes of the account, the hash of its name in Anchor: VirtualPool and TransferHookPool. */
const POOL_ACCOUNTS = ['d5e005d16245775c', 'eddbb8172abda923']
const LEAST_BYTES = 376
const CREATOR_AT = 104
const [PARTNER_BASE_AT, PARTNER_QUOTE_AT, TOTAL_BASE_AT, TOTAL_QUOTE_AT, CREATOR_BASE_AT, CREATOR_QUOTE_AT] = [
  264, 272, 328, 336, 352, 360,
]
const [LEFTOVER_AT, CREATOR_SURPLUS_AT, MIGRATION_FEE_AT] = [309, 310, 311]
/** Bit of the creator in the state of the migration fee. */
const CREATOR_TOOK_FEE = 0b010

type PoolAccount = Pick<ChainAccount, 'owner' | 'data'> | null

/**
 * Returns a value that changes when the creator claims or transfers its role, or null while `wallet` is the creator
 * and nothing was claimed. The claimed amount is all earnings minus the unclaimed ones, of partner and creator
 * together, so claims of the partner change it too.
 */
export function creatorPart(account: PoolAccount, wallet: string): Uint8Array | null {
  const data = poolData(account)
  if (data === null) return null
  const u64 = (at: number) => data.readBigUInt64LE(at)
  const claimed = [
    u64(TOTAL_BASE_AT) - u64(PARTNER_BASE_AT) - u64(CREATOR_BASE_AT),
    u64(TOTAL_QUOTE_AT) - u64(PARTNER_QUOTE_AT) - u64(CREATOR_QUOTE_AT),
    BigInt(data.readUInt8(CREATOR_SURPLUS_AT)),
    BigInt(data.readUInt8(MIGRATION_FEE_AT) & CREATOR_TOOK_FEE),
  ]
  const creator = creatorIn(data)
  if (creator === wallet && claimed.every((each) => each === 0n)) return null
  return Buffer.from([creator, ...claimed].join(' '))
}

/** Returns the creator that a launch curve's account names, or null for another account. */
export function creatorOf(account: PoolAccount): string | null {
  const data = poolData(account)
  return data === null ? null : creatorIn(data)
}

const creatorIn = (data: Buffer): string => addressOf(data.subarray(CREATOR_AT, CREATOR_AT + 32))

/** Returns a value that changes when the leftover is paid out, or null before. */
export function leftoverPart(account: PoolAccount): Uint8Array | null {
  const paid = poolData(account)?.readUInt8(LEFTOVER_AT) ?? 0
  return paid === 0 ? null : Uint8Array.of(paid)
}

function poolData(account: PoolAccount): Buffer | null {
  if (account === null || account.owner !== PROGRAMS.dbc.id || account.data.length < LEAST_BYTES) return null
  const data = Buffer.from(account.data.buffer, account.data.byteOffset, account.data.byteLength)
  return POOL_ACCOUNTS.includes(data.toString('hex', 0, 8)) ? data : null
}
