/** What a buyer of a raise can do: deposit, withdraw, claim, take back, and the reading of all this. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { internal } from '../../platform/errors.ts'

type Routes = Api['raises']

export async function getBuyer(_context: Context, _input: Input<Routes['buyer']>): Promise<Result<Routes['buyer']>> {
  throw internal('not built yet')
}

export async function deposit(_context: Context, _input: Input<Routes['deposit']>): Promise<Result<Routes['deposit']>> {
  throw internal('not built yet')
}

export async function withdrawDeposit(
  _context: Context,
  _input: Input<Routes['withdraw']>,
): Promise<Result<Routes['withdraw']>> {
  throw internal('not built yet')
}

export async function claimBought(_context: Context, _input: Input<Routes['claim']>): Promise<Result<Routes['claim']>> {
  throw internal('not built yet')
}

export async function refundDeposit(
  _context: Context,
  _input: Input<Routes['refund']>,
): Promise<Result<Routes['refund']>> {
  throw internal('not built yet')
}
