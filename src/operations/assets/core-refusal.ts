/** Reports refusals of Metaplex Core in a simulation before anyone signs. */

import { explainTransactionError } from '../../chain/errors/index.ts'
import type { FailedSimulation } from '../../chain/sending/compute-budget.ts'
import { namesIn } from '../../chain/sending/transactions.ts'
import { badRequest } from '../../platform/errors.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { PROGRAMS } from '../../solana/programs.ts'

/**
 * Throws bad_request when the program itself refuses, which a plugin may cause. A payer without funds is accepted,
 * because it may receive them.
 */
export function throwCoreRefusal({ transaction, err, logs }: FailedSimulation): void {
  const { program, name, message, hint } = explainTransactionError(err, {
    logs,
    ...namesIn(decodeWireTransaction(transaction).message),
  })
  if (program !== PROGRAMS.core.name) return
  throw badRequest(`${program} refuses it: ${message}${hint === null ? '' : `; ${hint}`}`, {
    details: { error: name, logs: logs.slice(-20) },
  })
}
