/** The contract and the operations of the routes that a pay request may name. */
import type { PayableName } from '../../api/payable-routes.ts'
import type { AnyRoute } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { type Noun, REGISTRY, type Verb } from '../registry.ts'

async function verbOf(name: PayableName): Promise<Verb> {
  const [noun = '', verb = ''] = name.split('.')
  const found = (await REGISTRY[noun as Noun]()).find((each) => each.verb === verb)
  if (found === undefined) throw new Error(`the contract has no route ${name}`)
  return found
}

/** The route in the contract, with the schemas of its path and body. */
export const payableRoute = async (name: PayableName): Promise<AnyRoute> => (await verbOf(name)).route

/**
 * The operation that builds. Whoever has the link calls it, so it must only build: that of a rule's proposal decides at
 * once, and is refused.
 */
export async function payableOperation(name: PayableName): Promise<Verb['operation']> {
  const { operation } = await verbOf(name)
  if (!name.startsWith('proposals.')) return operation
  const { requireProposal } = await import('../proposals/proposal-record.ts')
  return async (context: Context, input: { id: string }) => {
    const { id, kind } = await requireProposal(context.store.db, input.id)
    if (kind === 'squads') return operation(context, input)
    throw badRequest(`${id} is a proposal of a rule, about which no transaction decides: svc proposals show ${id}`)
  }
}
