/** Reads the raise that a request names, checks who may act for it, and says what all of its transactions have in common. */
import { type Raise, type RaiseEscrow, readRaise, readRaiseOfBuyer } from '../../chain/programs/presale/index.ts'
import type { Services } from '../../context.ts'
import { type ApiError, notFound } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { trackingOf } from '../building.ts'
import { fault } from '../locks/checks.ts'
import { refusalsOf } from '../refusals.ts'

const noRaise = ({ cluster }: Services['chain'], id: string): ApiError =>
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

/** The rounds of a raise, and what a wallet has in each. Throws not_found for an address without a raise. */
export async function readSales({ chain }: Pick<Services, 'chain'>, id: string, wallet: string) {
  const { raise, escrows, at } = await readRaiseOfBuyer(chain, id, wallet)
  if (raise === null) throw noRaise(chain, id)
  const of = { raise, at: BigInt(at.unixSeconds), epoch: at.epoch }
  return { ...of, sales: raise.rounds.map((_, round): Sale => ({ ...of, round, escrow: escrows[round] ?? null })) }
}

/** Throws bad_request unless the payer is the creator, whom the message names. `verb` as in `open`. */
export function requireCreator({ address, creator }: Raise, payer: string, verb: string): void {
  if (payer === creator) return
  throw fault('payer', `Only the creator of the raise ${address}, ${creator}, can ${verb} it, not ${payer}`, {
    creator,
  })
}

export const throwRaiseRefusal = refusalsOf(
  PROGRAMS.presale.name,
  PROGRAMS.dammV2.name,
  'Token program',
  'Token-2022 program',
)

/** What the plan of every transaction on a raise has. */
export const onRaise = (id: string) => ({
  requiredProgram: PROGRAMS.presale,
  onFailedSimulation: throwRaiseRefusal,
  tracked: trackingOf('raise', id, []),
})
