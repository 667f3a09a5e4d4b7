/** Reports the refusals of a program in a simulation before anyone signs. */
import { explainTransactionError } from '../chain/errors/index.ts'
import type { FailedSimulation } from '../chain/sending/compute-budget.ts'
import { namesIn } from '../chain/sending/transactions.ts'
import { badRequest } from '../platform/errors.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import { PROGRAMS } from '../solana/programs.ts'

/**
 * Makes what throws bad_request when one of these programs refuses. A payer without funds is accepted, because it may
 * receive them.
 */
export const refusalsOf =
  (...refusing: readonly string[]) =>
  ({ transaction, err, logs }: FailedSimulation): void => {
    const names = namesIn(decodeWireTransaction(transaction).message)
    const { program, name, message, hint } = explainTransactionError(err, { logs, ...names })
    if (program === null || !refusing.includes(program)) return
    throw badRequest(`${program} refuses it: ${message}${hint === null ? '' : `; ${hint}`}`, {
      details: { error: name, logs: logs.slice(-20) },
    })
  }

/** A plugin of an asset may cause a refusal too. */
export const throwCoreRefusal = refusalsOf(PROGRAMS.core.name)
