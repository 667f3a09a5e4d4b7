/** Reads executed transactions with their bytes, so that a client can check what they did. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { ExecutedTransaction } from '../../api/transactions.ts'
import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import { executedOf, type HistoricTransaction, readAnswer, UnreadableTransaction } from '../../chain/reads/history.ts'
import { isSignature } from '../../chain/reads/statuses.ts'
import type { Context } from '../../context.ts'

type FetchTransactionsRoute = Api['transactions']['batchFetch']

/** Transactions that are read at the same time. */
const AT_ONCE = 8

/** In the order of the request; null for one that no endpoint has readable. Throws internal_error if a node fails. */
export async function fetchTransactions(
  { chain }: Pick<Context, 'chain'>,
  { signatures }: Input<FetchTransactionsRoute>,
): Promise<Result<FetchTransactionsRoute>> {
  const transactions: (ExecutedTransaction | null)[] = []
  for (let at = 0; at < signatures.length; at += AT_ONCE) {
    const part = signatures.slice(at, at + AT_ONCE)
    transactions.push(...(await Promise.all(part.map((signature) => executed(chain, signature)))))
  }
  return { transactions }
}

async function executed(chain: Context['chain'], signature: string): Promise<ExecutedTransaction | null> {
  const found = await findExecuted(chain, signature)
  return found && { signature, slot: found.slot, failed: found.isFailed, transaction: found.bytes }
}

/** A transaction as the chain executed it, and its signed bytes in base64. */
export type Executed = HistoricTransaction & { bytes: string }

/** Asks every endpoint; null if none has it as `confirmed`, readable. Throws internal_error if a node fails. */
export async function findExecuted(chain: Context['chain'], signature: string): Promise<Executed | null> {
  if (!isSignature(signature)) return null
  const found = await executedAt(chain, signature)
  if (found !== null || !chain.hasSeveralEndpoints) return found
  const others = await chain.witnesses((node) => executedAt(node, signature))
  return others.find((other) => other !== null) ?? null
}

async function executedAt(node: NodeCalls, signature: string): Promise<Executed | null> {
  try {
    return await readAnswer(node, signature, 'confirmed', (answer) => {
      const { transaction } = answer as { transaction: [string] }
      return { ...executedOf(answer, signature), bytes: transaction[0] }
    })
  } catch (error) {
    // One of 100 that cannot be read must not hide the others.
    if (error instanceof UnreadableTransaction) return null
    throw error
  }
}
