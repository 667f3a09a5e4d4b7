/** What following needs: the services of the daemon or of a request, and the projections of every resource. */
import type { Services } from '../context.ts'
import type { Projection } from './projection.ts'

export interface FollowingServices extends Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'> {
  /** Events are written in this order. */
  projections: readonly Projection[]
}
