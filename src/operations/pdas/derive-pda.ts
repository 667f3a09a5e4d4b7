/** Derives a program-derived address from named inputs, without a request to the chain. */
import type { Api } from '../../api/index.ts'
import { validateInput } from '../../api/input-validation.ts'
import { pdaRequest } from '../../api/pdas.ts'
import type { Input, Result } from '../../api/route.ts'
import { deriveProgramAddress as derive } from '../../chain/programs/pdas.ts'
import type { Context } from '../../context.ts'

type DerivePdaRoute = Api['pdas']['derive']

export async function derivePda(_: Context, input: Input<DerivePdaRoute>): Promise<Result<DerivePdaRoute>> {
  const { kind, args } = validateInput(pdaRequest, { kind: input.kind, args: input.args })
  return derive(kind, args)
}
