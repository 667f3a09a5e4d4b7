/** Reads the raise that a request names, and checks who may act for it. */
import { type Raise, readRaise } from '../../chain/programs/presale/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import type { Services } from '../../context.ts'
import { type ApiError, badRequest, notFound } from '../../platform/errors.ts'

interface FoundRaise {
  raise: Raise
  at: ChainTime
}

/** Why there is nothing to act on. */
export const noRaise = ({ cluster }: Services['chain'], id: string): ApiError =>
  notFound(`There is no raise at ${id} on ${cluster.label}`, { param: 'id' })

/** Throws not_found for an address without a raise. */
export async function requireRaise({ chain }: Pick<Services, 'chain'>, id: string): Promise<FoundRaise> {
  const { raise, at } = await readRaise(chain, id)
  if (raise === null) throw noRaise(chain, id)
  return { raise, at }
}

/** Throws bad_request unless the payer is the creator, whom the message names. `verb` as in `open`. */
export function requireCreator({ address, creator }: Raise, payer: string, verb: string): void {
  if (payer === creator) return
  throw badRequest(`Only the creator of the raise ${address}, ${creator}, can ${verb} it, not ${payer}`, {
    param: 'payer',
    details: { creator },
  })
}
