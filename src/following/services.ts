/** The services that following requires, from the daemon or a request, and the projections of every resource. */
import type { Services } from '../context.ts'
import type { Projection } from './projection.ts'

export interface FollowingServices extends Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'> {
  /** The projections, in the order in which their events are written. */
  projections: readonly Projection[]
  /**
   * Wallets of the ledger. All transactions that move their funds are kept, because each balance builds on the previous
   * one.
   */
  booked?: ReadonlySet<string>
}
