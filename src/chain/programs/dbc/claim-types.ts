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
  /** Exact amount in raw units of the quote to claim. It may be 0 if the pool has fees in its own token. */
  amount: bigint
  /** Raw units in the claimer's account of a quote other than SOL before the claim. */
  held?: bigint
  /**
   * Whether the claimer has no account of the pool's token. The opened account is closed again if `closesToken` says
   * so.
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
   * What is at the address of the recipient's account of a quote other than SOL: the account, nothing, or only
   * lamports. The payer opens a missing account.
   */
  account?: 'open' | 'missing' | 'funded'
}
