/** Returns the token that gold locks use. */
import type { Api } from '../../api/index.ts'
import type { Result } from '../../api/route.ts'
import { readLockableToken } from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { goldMint, requireLockable } from './gold-mint.ts'

type GetGoldTokenRoute = Api['goldLocks']['token']

export async function getGoldToken(context: Context): Promise<Result<GetGoldTokenRoute>> {
  const mint = goldMint(context)
  const token = await readLockableToken(context.chain, mint)
  const { decimals, tokenProgram } = requireLockable(context, mint, token)
  return { mint, decimals, token_program: tokenProgram }
}
