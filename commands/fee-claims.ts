/** `svc fees`: what pools owe the partner, and what was claimed. */
import { paths } from '../src/api/paths.ts'
import { type Noun, required, text } from './command.ts'
import { listVerb, recordVerb } from './reads.ts'

export const noun: Noun = {
  verbs: {
    history: listVerb({
      about: 'List fee claims, newest first',
      at: [paths.feeClaims.list, paths.feeClaims.listByPool],
      filters: { pool: text('Only those of this pool', { placeholder: 'ADDRESS' }) },
      columns: ['id', 'type', 'pool_address', 'signature', 'occurred_at'],
      call: (client, { pool, ...query }) =>
        pool === undefined ? client.feeClaims.list(query) : client.feeClaims.listByPool({ address: pool, ...query }),
    }),
    metrics: recordVerb({
      about: 'Read the fees a pool holds for the partner',
      at: paths.pools.feeMetrics,
      args: { address: required(text('Address of the pool')) },
      call: (client, input) => client.pools.feeMetrics(input),
    }),
  },
}
