/** The guard inside the message of a vault: it keeps what the simulation leaves it, whoever executes the proposal. */

import { readMovements } from '../../../chain/sending/movements.ts'
import { accountsAt } from '../../../chain/sending/runs.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import { insertInstructions } from '../../../solana/compiling.ts'
import { lamportsFloor } from '../../../solana/guards.ts'
import { decodeWireTransaction } from '../../../solana/messages.ts'
import { PROGRAMS } from '../../../solana/programs.ts'

/** The parts of a build's answer that are transactions. */
interface BuiltAnswer {
  transaction?: string
  transactions?: readonly string[]
  tx?: { transaction?: string }
}

/** The parts of the answer that the guard changes. Throws bad_request if the act cannot have one. */
export async function guardedInside(
  context: Pick<Context, 'chain'>,
  { transaction, transactions, tx }: BuiltAnswer,
  vault: string,
): Promise<BuiltAnswer> {
  if (transaction !== undefined) return { transaction: await withFloor(context, transaction, vault) }
  if (tx?.transaction !== undefined)
    return { tx: { ...tx, transaction: await withFloor(context, tx.transaction, vault) } }
  const [only, ...others] = transactions ?? []
  if (only === undefined || others.length > 0) throw refused('it takes several transactions')
  return { transactions: [await withFloor(context, only, vault)] }
}

/** Bounds are absolute, because Lighthouse remembers no balance in a call of another program. */
async function withFloor({ chain }: Pick<Context, 'chain'>, text: string, vault: string): Promise<string> {
  if (!(await chain.hasProgram(PROGRAMS.lighthouse.id))) throw refused('Lighthouse is not on this cluster')
  const decoded = decodeWireTransaction(Buffer.from(text, 'base64'))
  const named = decoded.message.instructions.map(({ programIdIndex }) => decoded.message.keys[programIdIndex])
  if (named.includes(PROGRAMS.lighthouse.id)) throw refused('it has guards already')
  const { movements, loaded } = await readMovements(chain, decoded, [vault])
  const guards = movements.flatMap(({ guards: { needed } }) => needed)
  const [account] = await accountsAt(chain, [vault])
  const change = guards.find(({ address }) => address === vault)?.change ?? null
  if (!account || change === null) throw refused('the act fails in the simulation')
  const last = [lamportsFloor(vault, account.lamports + change)]
  const guarded = insertInstructions(decoded.message, { first: [], last, place: 0 }, loaded)
  return Buffer.from(guarded).toString('base64')
}

const refused = (why: string) =>
  badRequest(`approver.guard_inside: the act cannot have a guard inside, because ${why}: leave it out`, {
    param: 'approver.guard_inside',
  })
