/** Lets another wallet claim the fees of positions for their owner, or takes that back, unsigned or signed. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildPositionDelegation,
  type DammV2Position,
  isClaimDelegateOnly,
  POSITION_DELEGATION_UNITS,
  positionsOf,
  positionsPerClaim,
} from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { type BuiltTransaction, buildTransaction, signingDraft, trackingOf, unsignedAnswer } from '../building.ts'
import { bySize } from '../positions/position-page.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun } from '../signing/signing-run.ts'
import { requirePositionPool } from './plan-positions.ts'

type DelegateFeesRoute = Api['feeClaims']['delegate']
type Delegation = Omit<Result<DelegateFeesRoute>, 'tx' | 'tracked_resource'>

export async function delegateFees(
  context: Context,
  input: Input<DelegateFeesRoute>,
): Promise<Result<DelegateFeesRoute>> {
  if (input.mode === 'signed') return signedDelegation(context, input)
  const { built, delegation } = await planDelegation(context, input, input.payer)
  return { ...delegation, tx: unsignedAnswer(built), tracked_resource: trackingOf('pool', delegation.pool_address, []) }
}

async function signedDelegation(context: Context, input: Input<DelegateFeesRoute>): Promise<Result<DelegateFeesRoute>> {
  const run = await openSigningRun<Delegation>(context, 'fee_claim.delegate')
  const { wallet } = run
  if (input.owner !== undefined && input.owner !== wallet) {
    throw badRequest(
      `mode "signed" is for positions of the platform wallet ${wallet}: leave owner out, or use mode "unsigned"`,
      { param: 'owner' },
    )
  }
  const track = ({ pool_address }: Delegation) => trackingOf('pool', pool_address, [])
  const sign = async () => {
    const { built, delegation } = await planDelegation(context, { ...input, owner: wallet }, wallet)
    return { first: signingDraft(built), state: delegation, tracked_resource: track(delegation) }
  }
  const plan = run.resumed ?? (await sign())
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({
      ...plan.state,
      tx: { mode: 'signed', signature },
      tracked_resource: track(plan.state),
    }),
  })
}

/** Changes the largest positions that are not yet as requested. Throws bad_request if all of them are. */
async function planDelegation(
  context: Context,
  { address, delegate, owner }: Input<DelegateFeesRoute>,
  payer: string,
): Promise<{ built: BuiltTransaction; delegation: Delegation }> {
  const holder = owner ?? payer
  if (delegate === holder) throw badRequest('delegate is the owner, who can claim anyway', { param: 'delegate' })
  const { pool } = await requirePositionPool(context, address)
  const positions = largestFirst(await positionsOf(context.chain, pool.address, holder))
  const open = positions.filter((position) =>
    delegate === null
      ? position.delegate !== null || position.permissions !== 0
      : !isClaimDelegateOnly(position, delegate),
  )
  if (open.length === 0) throw nothingToChange({ address: pool.address, holder, delegate, held: positions.length })
  const chosen = open.slice(0, positionsPerClaim({ owner: holder, payer }))
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: POSITION_DELEGATION_UNITS * chosen.length,
    build: (envelope) => buildPositionDelegation({ ...envelope, owner: holder, delegate, positions: chosen }),
  })
  const earlier = chosen.flatMap((position) => position.delegate ?? [])
  return {
    built,
    delegation: {
      pool_address: pool.address,
      owner: holder,
      delegate,
      positions: chosen.map(({ position }) => position),
      replaced: [...new Set(earlier)].filter((wallet) => wallet !== delegate),
      remaining_positions: open.length - chosen.length,
    },
  }
}

function nothingToChange(of: { address: string; holder: string; delegate: string | null; held: number }) {
  const { address, holder, delegate, held } = of
  const param = held === 0 ? 'owner' : 'delegate'
  if (held === 0) return badRequest(`${holder} has no positions in the pool ${address}`, { param })
  const why = delegate === null ? 'have no delegate' : `can be claimed by ${delegate} already`
  return badRequest(`All positions of ${holder} in the pool ${address} ${why}`, { param })
}

const liquidityOf = ({ unlockedLiquidity, permanentLockedLiquidity, vestedLiquidity }: DammV2Position): bigint =>
  unlockedLiquidity + permanentLockedLiquidity + vestedLiquidity

/** Anyone can give a wallet positions that hold almost nothing. */
export const largestFirst = (positions: readonly DammV2Position[]): (DammV2Position & { liquidity: bigint })[] =>
  positions.map((position) => ({ ...position, liquidity: liquidityOf(position) })).sort(bySize)
