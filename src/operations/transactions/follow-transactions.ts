/** Follows submitted transactions with the projections of every resource. */
import type { Services } from '../../context.ts'
import { correctExpired, type FollowRoundOptions, followDue, followOne } from '../../following/rounds.ts'
import type { FollowedTransaction } from '../../store/transactions/transactions.ts'
import { PROJECTIONS } from '../projections.ts'

type FollowTransactionsServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'>

/** Runs one round over the transactions that are due. Throws internal_error when the node fails. */
export const followTransactions = (services: FollowTransactionsServices, options?: FollowRoundOptions): Promise<void> =>
  followDue({ ...services, projections: PROJECTIONS }, options)

/**
 * Follows one transaction now, even if another process follows it. Throws when it cannot be followed, and
 * internal_error when the node fails.
 */
export const followTransaction = (services: FollowTransactionsServices, row: FollowedTransaction): Promise<void> =>
  followOne({ ...services, projections: PROJECTIONS }, row)

/** Corrects transactions of the last day that ended as expired although they landed. Throws as above. */
export const correctTransactions = (services: FollowTransactionsServices): Promise<void> =>
  correctExpired({ ...services, projections: PROJECTIONS })
