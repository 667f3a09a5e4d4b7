/** `svc fees`: the fees that pools owe the partner: reading them, claiming them and the history of claims. */
import type { FeeClaimKind } from '../../src/api/fee-claims.ts'
import { paths } from '../../src/api/paths.ts'
import { choiceOf, type Noun, poolAddress, required, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { metricsOutcome } from '../pools/record.ts'
import { claimPoolFees } from './claim.ts'
import { delegateVerbs } from './delegate.ts'
import { historyDrawing } from './history-drawing.ts'
import { historyTable } from './history-table.ts'
import { scheduleVerbs } from './schedule.ts'

/** The kinds of the API, whose own list would load its schemas with every start. */
const KINDS = [
  'dbc',
  'damm_v2',
  'surplus',
  'migration_fee',
  'leftover',
  'pool_creation_fee',
  'vesting',
] as const satisfies readonly FeeClaimKind[]

export const feesNoun: Noun = {
  groups: {
    schedule: 'Claims that the platform wallet makes by itself',
    delegate: 'Wallets that claim for the owner of positions',
  },
  aliases: { history: 'list' },
  verbs: {
    claim: claimPoolFees,
    list: listVerb({
      about: 'List fee claims, newest first',
      at: [paths.feeClaims.list, paths.feeClaims.listByPool],
      filters: {
        pool: poolAddress('Only those of this pool', { placeholder: 'ADDRESS' }),
        kind: choiceOf(KINDS, 'Only those of this kind'),
        beneficiary: choiceOf(['partner', 'creator'], 'Only those of this share'),
      },
      examples: [
        'svc fees list',
        'svc fees list --pool CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --kind dbc --all',
        'svc fees history --all --plot --svg fees.svg',
      ],
      columns: [
        'id',
        'type',
        'pool_address',
        'kind',
        'beneficiary',
        'claimer',
        'signature',
        'occurred_at',
        'quote',
        'base',
        'sol',
        'received',
      ],
      table: historyTable,
      draw: historyDrawing,
      call: (client, { pool, ...query }) =>
        pool === undefined ? client.feeClaims.list(query) : client.feeClaims.listByPool({ address: pool, ...query }),
    }),
    metrics: verb({
      about: 'Read the fees a pool holds for the partner',
      calls: [paths.pools.feeMetrics],
      args: { address: required(poolAddress()) },
      examples: [
        'svc fees metrics CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4',
        'svc fees metrics CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4 --json',
      ],
      run: async (input, { client }) => metricsOutcome((await client.pools.feeMetrics(input)).data),
    }),
    ...delegateVerbs,
    ...scheduleVerbs,
  },
}
