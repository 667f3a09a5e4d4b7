/** A program-derived address from named inputs; the chain is not asked. */
import type { Api } from '../../api/index.ts'
import { pdaRequest } from '../../api/pdas.ts'
import type { Input, Result } from '../../api/route.ts'
import { derivePdaOf as derive } from '../../chain/pdas.ts'
import type { Context } from '../../context.ts'
import { validate } from '../validate.ts'

type DerivePdaRoute = Api['pdas']['derive']

export async function derivePda(_: Context, given: Input<DerivePdaRoute>): Promise<Result<DerivePdaRoute>> {
  const { kind, args } = validate(pdaRequest, { kind: given.kind, args: given.args })
  return derive(kind, args)
}
