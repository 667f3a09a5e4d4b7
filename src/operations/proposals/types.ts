/** What the verbs of proposals share. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'

/** Input of a decision, an execution or a reclaim. */
export type DecisionInput = Input<Api['proposals']['approve']>
export type Decision = 'approved' | 'rejected' | 'cancelled'
