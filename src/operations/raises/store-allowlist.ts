/** Stores the allowlist of a raise. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { internal } from '../../platform/errors.ts'

type Routes = Api['raises']

export async function storeAllowlist(
  _context: Context,
  _input: Input<Routes['storeAllowlist']>,
): Promise<Result<Routes['storeAllowlist']>> {
  throw internal('not built yet')
}
