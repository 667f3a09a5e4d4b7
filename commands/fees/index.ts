/** `svc fees`: the fees that pools owe the partner: reading them, claiming them and the history of claims. */
import { paths } from '../../src/api/paths.ts'
import { type Noun, required, text, verb } from '../command.ts'
import { metricsOutcome } from '../pools/record.ts'
import { listVerb } from '../reads.ts'
import { claimPoolFees } from './claim.ts'

export const feesNoun: Noun = {
  verbs: {
    claim: claimPoolFees,
    history: listVerb({
      about: 'List fee claims, newest first',
      at: [paths.feeClaims.list, paths.feeClaims.listByPool],
      filters: { pool: text('Only those of this pool', { placeholder: 'ADDRESS' }) },
      columns: ['id', 'type', 'pool_address', 'signature', 'occurred_at'],
      call: (client, { pool, ...query }) =>
        pool === undefined ? client.feeClaims.list(query) : client.feeClaims.listByPool({ address: pool, ...query }),
    }),
    metrics: verb({
      about: 'Read the fees a pool holds for the partner',
      calls: [paths.pools.feeMetrics],
      args: { address: required(text('Address of the pool')) },
      run: async (input, { client }) => metricsOutcome((await client.pools.feeMetrics(input)).data),
    }),
  },
}
