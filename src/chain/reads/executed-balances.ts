/**
 * Reads what a final transaction changed about the balances of its accounts, as the node recorded them before and
 * after it.
 */

import { isAddress } from '../../solana/addresses.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import { executedOf, type HistoricTransaction, readAnswer } from './history.ts'

/** An account's balances of one token. */
interface HeldToken {
  mint: string
  /** The wallet that owns the account. */
  owner: string
  decimals: number
  /** Raw units before and after the transaction; 0 if the account did not exist. */
  before: bigint
  after: bigint
}

export interface AccountBalances {
  address: string
  /** Lamports before and after, the network fee included. */
  before: bigint
  after: bigint
  /** Set for a token account; two if it was closed and opened again for another mint. */
  holdings: HeldToken[]
}

export interface ExecutedBalances extends HistoricTransaction {
  /** Network fee in lamports, which the first account paid. */
  fee: bigint
  accounts: AccountBalances[]
}

/** A transaction names at most 64 accounts (SIMD-0385: 96); an answer with more is invalid. */
const MOST_ACCOUNTS = 256

/**
 * Returns null for a transaction that the node does not have at this commitment. Throws internal_error when the node
 * fails, and UnreadableTransaction for an answer whose balances are missing or do not belong to the transaction.
 */
export const readBalances = (
  node: NodeCalls,
  signature: string,
  commitment: 'confirmed' | 'finalized' = 'finalized',
): Promise<ExecutedBalances | null> =>
  readAnswer(node, signature, commitment, (answer) => balancesIn(answer, signature))

/** The same from an answer of getTransaction in base64. Throws if parts are missing. */
export function balancesIn(answer: unknown, signature: string): ExecutedBalances {
  const executed = executedOf(answer, signature)
  const { meta } = answer as { meta: Record<string, unknown> }
  const { keys } = executed.message
  const [before, after] = [lamportsIn(meta.preBalances, keys), lamportsIn(meta.postBalances, keys)]
  const holdings = holdingsIn(executed, meta)
  return {
    ...executed,
    fee: BigInt(safeCount(meta.fee)),
    accounts: keys.map((address, i) => ({
      address,
      before: before[i] ?? 0n,
      after: after[i] ?? 0n,
      holdings: [...(holdings.get(i)?.values() ?? [])],
    })),
  }
}

const missing = () => new Error('its answer is incomplete')

function safeCount(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw missing()
  return value as number
}

function lamportsIn(list: unknown, keys: readonly string[]): bigint[] {
  if (!Array.isArray(list) || list.length !== keys.length || list.length > MOST_ACCOUNTS) throw missing()
  return list.map((each) => BigInt(safeCount(each)))
}

type Holdings = Map<number, Map<string, HeldToken>>

function holdingsIn({ isFailed, message }: HistoricTransaction, meta: Record<string, unknown>): Holdings {
  const holdings: Holdings = new Map()
  for (const [side, list] of [
    ['before', meta.preTokenBalances],
    ['after', meta.postTokenBalances],
  ] as const) {
    // A failed transaction moved no token, and some nodes record no balances of it.
    if (isFailed && (list === null || list === undefined)) continue
    if (!Array.isArray(list) || list.length > MOST_ACCOUNTS) throw missing()
    for (const each of list) {
      const { accountIndex, mint, owner, uiTokenAmount } = (each ?? {}) as Record<string, unknown>
      const { amount, decimals } = (uiTokenAmount ?? {}) as Record<string, unknown>
      const place = safeCount(accountIndex)
      const isWhole = typeof mint === 'string' && isAddress(mint) && typeof owner === 'string' && isAddress(owner)
      if (place >= message.keys.length || !isWhole) throw missing()
      if (typeof amount !== 'string' || !/^[0-9]{1,20}$/.test(amount) || safeCount(decimals) > 255) throw missing()
      const of = holdings.get(place) ?? new Map<string, HeldToken>()
      const known = of.get(mint) ?? { mint, owner, decimals: decimals as number, before: 0n, after: 0n }
      of.set(mint, { ...known, owner, [side]: BigInt(amount) })
      holdings.set(place, of)
    }
  }
  return holdings
}
