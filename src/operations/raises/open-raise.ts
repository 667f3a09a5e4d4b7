/** Opens a raise to its allowlist: its root and where proofs are, on chain. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { internal } from '../../platform/errors.ts'

type Routes = Api['raises']

export async function openRaise(_context: Context, _input: Input<Routes['open']>): Promise<Result<Routes['open']>> {
  throw internal('not built yet')
}
