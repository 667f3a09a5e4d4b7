/** Derives the addresses of programs' accounts. */
import type { Api } from '../api/index.ts'
import { validateInput } from '../api/input-validation.ts'
import { pdaRequest } from '../api/pdas.ts'
import type { Input, Result } from '../api/route.ts'
import { deriveProgramAddress as derive } from '../chain/programs/pdas.ts'
import type { Context } from '../context.ts'

type Routes = Api['pdas']

/** Derives a program-derived address from named inputs, without a request to the chain. */
export async function derivePda(_: Context, input: Input<Routes['derive']>): Promise<Result<Routes['derive']>> {
  const { kind, args } = validateInput(pdaRequest, { kind: input.kind, args: input.args })
  return derive(kind, args)
}
