/** Types of a claim of trading fees from a launch curve. */
import type { Beneficiary } from '../../../api/fee-claims.ts'
import type { Envelope } from '../../sending/unsigned.ts'
import type { DbcPool, DbcPoolAccounts } from './types.ts'

/** What the builders of claims need to know of a pool. */
export type ClaimedPool = DbcPoolAccounts & Pick<DbcPool, 'quoteDecimals' | 'partnerBaseFee' | 'creatorBaseFee'>

export interface TradingFeeClaim extends Envelope {
  pool: ClaimedPool
  beneficiary: Beneficiary
  /** The fee claimer of the pool's config, or the pool's creator, which signs and receives the claimed amount. */
  claimer: string
  /** Exact amount in raw units of the quote to claim. It may be 0 where the pool has fees in its own token. */
  amount: bigint
  /** Raw units that the claimer's account of another quote than SOL holds before. */
  held?: bigint
  /**
   * Whether nothing is at the address of the claimer's account of the pool's token, which is then closed again where
   * `closesToken` says so.
   */
  isTokenMissing?: boolean
  /** Payments by the claimer, in this order. Their sum is at most `amount`. */
  splits: readonly Share[]
}

export interface Share {
  recipient: string
  /** Raw units of the quote. */
  amount: bigint
  /**
   * What is at the address of the recipient's account of another quote than SOL: the account, nothing, or lamports
   * alone. The payer opens one that is missing.
   */
  account?: 'open' | 'missing' | 'funded'
}
