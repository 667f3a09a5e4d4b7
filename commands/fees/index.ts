/** `svc fees`: the fees that pools owe the partner: reading them, claiming them and the history of claims. */
import type { FeeClaim, FeeClaimKind } from '../../src/api/fee-claims.ts'
import { paths } from '../../src/api/paths.ts'
import { solText } from '../../src/solana/amounts.ts'
import { ratioOf, solCell, solOf } from '../cli/amounts.ts'
import { choiceOf, type Noun, poolAddress, type Rows, required, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { metricsOutcome } from '../pools/record.ts'
import type { Drawing } from '../ui/drawing.ts'
import { timeSpans } from '../ui/time-spans.ts'
import { claimPoolFees } from './claim.ts'
import { delegateVerbs } from './delegate.ts'
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

/** The parties as they are named, from the axis upwards. */
const PARTIES = ['partner', 'creator'] as const

/** Null without a claim whose time is known. */
export function historyDrawing(claims: readonly FeeClaim[]): Drawing | null {
  const timed = claims.flatMap((claim) => {
    const at = Date.parse(claim.occurred_at ?? '')
    return Number.isNaN(at) ? [] : [{ ...claim, at }]
  })
  const spans = timeSpans(timed.map(({ at }) => at))
  if (spans === null) return null
  const paysSol = timed.some(({ sol }) => BigInt(sol ?? '0') > 0n)
  const sums = Array.from({ length: spans.count }, () => PARTIES.map(() => 0n))
  for (const { at, sol, beneficiary } of timed) {
    const span = sums[spans.placeOf(at)]
    const party = beneficiary === 'creator' ? 1 : 0
    if (span !== undefined) span[party] = (span[party] ?? 0n) + (paysSol ? BigInt(sol ?? '0') : 1n)
  }
  const totalOf = (span: readonly bigint[]) => span.reduce((sum, part) => sum + part, 0n)
  const most = sums.map(totalOf).reduce((highest, sum) => (sum > highest ? sum : highest), 0n)
  return {
    kind: 'bars',
    names: PARTIES,
    bars: sums.map((span) => span.map((part) => ratioOf(part, most))),
    labels: {
      title: paysSol ? `SOL claimed each ${spans.name} (UTC)` : `Claims each ${spans.name} (UTC)`,
      highest: paysSol ? solOf(most) : String(most),
      lowest: '0',
      first: spans.first,
      last: spans.count > 1 ? spans.last : '',
    },
  }
}

// The table of `svc fees list`: what each claim has paid, in SOL, and who got what.

type PaidAmounts = Pick<FeeClaim, 'sol' | 'quote' | 'base'>

/**
 * A quote in SOL is shown only as SOL; other quotes and the pool's token are raw units. Until a claim is final its
 * amounts are unknown; an older daemon never knows them.
 */
export function historyTable(claims: readonly FeeClaim[]): Rows {
  return {
    columns: ['occurred_at', 'kind', 'party', 'sol', 'other_units', 'received', 'pool_address', 'signature'],
    rows: claims.map((claim) => [
      claim.occurred_at,
      claim.kind,
      claim.beneficiary,
      claim.sol ? solCell(claim.sol) : claim.sol === null ? 'not final yet' : null,
      unitsOf(claim),
      claim.received?.map(receiptText).join(', ') || null,
      claim.pool_address,
      claim.signature,
    ]),
  }
}

function unitsOf({ sol, quote, base }: PaidAmounts): string | null {
  const isOther = sol === '0' && (quote ?? '0') !== '0'
  const parts = [
    ...(isOther ? [`${quote} of the quote`] : []),
    ...((base ?? '0') === '0' ? [] : [`${base} of the token`]),
  ]
  return parts.length === 0 ? null : parts.join(', ')
}

const receiptText = ({ wallet, token, amount }: NonNullable<FeeClaim['received']>[number]): string =>
  token === 'SOL' ? `${wallet} ${solText(amount)}` : `${wallet} ${amount} of ${token}`
