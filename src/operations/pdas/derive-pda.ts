/** Derives a program-derived address from named inputs, without a request to the chain. */
import type { Api } from '../../api/index.ts'
import { pdaRequest } from '../../api/pdas.ts'
import type { Input, Result } from '../../api/route.ts'
import { deriveProgramAddress as derive } from '../../chain/programs/pdas.ts'
import type { Context } from '../../context.ts'
import { validateInput } from '../input-validation.ts'

type DerivePdaRoute = Api['pdas']['derive']

export async function derivePda(_: Context, input: Input<DerivePdaRoute>): Promise<Result<DerivePdaRoute>> {
  const { kind, args } = validateInput(pdaRequest, { kind: input.kind, args: input.args })
  return derive(kind, args)
}
