/** Settles a raise: what is due now for its creator. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { internal } from '../../platform/errors.ts'

type Routes = Api['raises']

export async function settleRaise(
  _context: Context,
  _input: Input<Routes['settle']>,
): Promise<Result<Routes['settle']>> {
  throw internal('not built yet')
}
