/** Reads the raise that a request names, and checks who may act for it. */
import { type Raise, type RaiseEscrow, readRaise, readRaiseOfBuyer } from '../../chain/programs/presale/index.ts'
import type { Services } from '../../context.ts'
import { type ApiError, notFound } from '../../platform/errors.ts'
import { fault } from '../locks/checks.ts'

/** Why there is nothing to act on. */
export const noRaise = ({ cluster }: Services['chain'], id: string): ApiError =>
  notFound(`There is no raise at ${id} on ${cluster.label}`, { param: 'id' })

/** Throws not_found for an address without a raise. */
export async function requireRaise({ chain }: Pick<Services, 'chain'>, id: string) {
  const { raise, at } = await readRaise(chain, id)
  if (raise === null) throw noRaise(chain, id)
  return { raise, at }
}

/** A round of a raise, and what a wallet has in it, at a time of the chain. */
export interface Sale {
  raise: Raise
  /** As the program counts, from 0. */
  round: number
  escrow: RaiseEscrow | null
  /** Unix seconds of the chain. */
  at: bigint
  epoch: bigint
}

/** Throws not_found without a raise, bad_request for a round that it does not have. */
export async function requireBuyer(
  { chain }: Pick<Services, 'chain'>,
  { id, wallet, round }: { id: string; wallet: string; round: number },
): Promise<Sale> {
  const { raise, escrows, at } = await readRaiseOfBuyer(chain, id, wallet)
  if (raise === null) throw noRaise(chain, id)
  if (raise.rounds[round - 1] === undefined) {
    const rounds = raise.rounds.length === 1 ? 'only one round' : `${raise.rounds.length} rounds`
    throw fault('round', `round: the raise ${id} has ${rounds}`, { rounds: raise.rounds.length })
  }
  const escrow = escrows[round - 1] ?? null
  return { raise, round: round - 1, escrow, at: BigInt(at.unixSeconds), epoch: at.epoch }
}

/** Throws bad_request unless the payer is the creator, whom the message names. `verb` as in `open`. */
export function requireCreator({ address, creator }: Raise, payer: string, verb: string): void {
  if (payer === creator) return
  throw fault('payer', `Only the creator of the raise ${address}, ${creator}, can ${verb} it, not ${payer}`, {
    creator,
  })
}
