/** `svc pools`: launch curves and the pools they migrate to. */
import { paths } from '../src/api/paths.ts'
import { choice, type Noun, required, text } from './command.ts'
import { listVerb, recordVerb } from './reads.ts'

const args = { address: required(text('Address of the pool')) }

export const noun: Noun = {
  verbs: {
    list: listVerb({
      about: 'List pools, newest first',
      at: paths.pools.list,
      filters: {
        status: choice(['pending', 'live', 'migration_triggered', 'migrated', 'failed'], 'Only those in this state'),
        type: choice(['dbc', 'damm_v2'], 'Only launch curves, or only migrated pools'),
        creator: text('Only those of this wallet', { placeholder: 'WALLET' }),
      },
      columns: ['address', 'type', 'symbol', 'status', 'curve_progress', 'base_mint', 'created_at'],
      call: (client, query) => client.pools.list(query),
    }),
    get: recordVerb({
      about: 'Read one pool',
      at: paths.pools.get,
      args,
      call: (client, input) => client.pools.get(input),
    }),
    progress: recordVerb({
      about: 'Read how far a launch curve is filled',
      at: paths.pools.curveProgress,
      args,
      call: (client, input) => client.pools.curveProgress(input),
    }),
    fees: recordVerb({
      about: 'Read the fees a pool holds for the partner',
      at: paths.pools.feeMetrics,
      args,
      call: (client, input) => client.pools.feeMetrics(input),
    }),
  },
}
