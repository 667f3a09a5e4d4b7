/** Tables of background jobs. */
import type { Generated } from 'kysely'

/** Current owner of each background job. */
interface LeasesTable {
  name: string
  /** Process that holds the lease, or held it last. */
  owner: string
  /** Expiry time of the lease; 0 once released. */
  until: number
  /** Latest scheduled time of the job that was assigned to a process. */
  slot: number
  /** Number of times the job was completed by any process. */
  done: Generated<number>
}

export interface WorkerTables {
  leases: LeasesTable
}
