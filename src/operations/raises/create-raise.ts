/** Creates a raise: checks its terms, previews its results, and builds its accounts. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { internal } from '../../platform/errors.ts'

type Routes = Api['raises']

export async function createRaise(
  _context: Context,
  _input: Input<Routes['create']>,
): Promise<Result<Routes['create']>> {
  throw internal('not built yet')
}
