/** Follows submitted transactions with the projections of every resource. */
import type { Services } from '../../context.ts'
import { type FollowRoundOptions, followDue, followOne } from '../../following/rounds.ts'
import type { FollowedTransaction } from '../../store/transactions.ts'
import { PROJECTIONS } from '../projections.ts'

type FollowTransactionsServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'>

/** One round over the transactions that are due. Throws internal_error where the node fails. */
export const followTransactions = (services: FollowTransactionsServices, options?: FollowRoundOptions): Promise<void> =>
  followDue({ ...services, projections: PROJECTIONS }, options)

/** One transaction now, whoever else follows it. Throws where it cannot be followed, internal_error where the node fails. */
export const followTransaction = (services: FollowTransactionsServices, row: FollowedTransaction): Promise<void> =>
  followOne({ ...services, projections: PROJECTIONS }, row)
