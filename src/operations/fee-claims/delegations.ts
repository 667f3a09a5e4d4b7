/** Who may claim the fees of a wallet's positions: read, and let another wallet claim or take that back. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildPositionDelegation,
  claimDelegateOf,
  type DammV2Position,
  isClaimDelegateOnly,
  POSITION_DELEGATION_UNITS,
  permissionsOf,
  positionsPerClaim,
  readPositions,
} from '../../chain/programs/damm-v2/index.ts'
import type { Envelope } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { act } from '../act.ts'
import { trackingOf } from '../building.ts'
import { bySize, positionPage } from '../positions/position-page.ts'
import { requireSigner } from '../signing/require-signer.ts'
import { requirePositionPool, resolvePartner } from './plan-positions.ts'

type Routes = Api['feeClaims']

/** Lets another wallet claim the fees of positions for their owner, or takes that back, unsigned or signed. */
export const delegateFees: typeof delegateFor = async (context, input) => {
  // The wallet of the request is read first, because the error names it.
  const wallet = input.mode === 'signed' ? (await requireSigner(context)).address : input.owner
  if (input.owner !== undefined && input.owner !== wallet) {
    throw badRequest(
      `mode "signed" is for positions of the platform wallet ${wallet}: leave owner out, or use mode "unsigned"`,
      { param: 'owner' },
    )
  }
  return delegateFor(context, input)
}

/** Changes the largest positions that are not yet as requested. Throws bad_request if all of them are. */
const delegateFor = act<Routes['delegate']>('fee_claim.delegate', planDelegation, { isNested: true })

async function planDelegation(context: Context, { address, delegate, owner, payer }: Input<Routes['delegate']>) {
  const holder = owner ?? payer
  if (delegate === holder) throw badRequest('delegate is the owner, who can claim anyway', { param: 'delegate' })
  const { pool } = await requirePositionPool(context, address)
  const positions = largestFirst(await readPositions(context.chain, pool.address, holder))
  const open = positions.filter((position) =>
    delegate === null
      ? position.delegate !== null || position.permissions !== 0
      : !isClaimDelegateOnly(position, delegate),
  )
  if (open.length === 0) throw nothingToChange({ address: pool.address, holder, delegate, held: positions.length })
  const chosen = open.slice(0, positionsPerClaim({ owner: holder, payer }))
  const earlier = chosen.flatMap((position) => position.delegate ?? [])
  return {
    fallbackUnits: POSITION_DELEGATION_UNITS * chosen.length,
    build: (envelope: Envelope) => buildPositionDelegation({ ...envelope, owner: holder, delegate, positions: chosen }),
    summary: {
      pool_address: pool.address,
      owner: holder,
      delegate,
      positions: chosen.map(({ position }) => position),
      replaced: [...new Set(earlier)].filter((wallet) => wallet !== delegate),
      remaining_positions: open.length - chosen.length,
    },
    tracked: trackingOf('pool', pool.address, []),
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

/** Reads who may claim the fees of a wallet's positions in a pool. */
export async function listFeeDelegations(
  context: Context,
  { address, owner, ...page }: Input<Routes['delegations']>,
): Promise<Result<Routes['delegations']>> {
  const found = await requirePositionPool(context, address)
  const { pool } = found
  const holder = owner ?? (await resolvePartner(context, found))
  const positions = largestFirst(await readPositions(context.chain, pool.address, holder))
  const { shown, remaining, next_cursor } = positionPage(`fee_delegations:${pool.address}:${holder}`, positions, page)
  return {
    pool_address: pool.address,
    owner: holder,
    positions: shown.map((position) => ({
      position: position.position,
      liquidity: String(position.liquidity),
      delegate: position.delegate,
      permissions: permissionsOf(position),
      usable: claimDelegateOf(position) !== null,
    })),
    remaining_positions: remaining,
    next_cursor,
  }
}
