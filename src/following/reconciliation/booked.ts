/** Reads a transaction that was found, and decides whether the ledger keeps it although it changes no record. */
import type { Chain } from '../../chain/connection.ts'
import { balancesIn } from '../../chain/reads/executed-balances.ts'
import { executedOf, type HistoricTransaction, readAnswer } from '../../chain/reads/history.ts'

export interface ReadFound {
  executed: HistoricTransaction
  /** Whether a wallet of the ledger signs or pays, or its balances change. */
  isBooked: boolean
}

/**
 * Returns null for a transaction that the node does not have. Throws internal_error when the node fails, and
 * UnreadableTransaction for an answer that is not this transaction or that cannot be decoded.
 */
export const readFound = (
  node: Pick<Chain, 'call'>,
  signature: string,
  booked: ReadonlySet<string> = new Set(),
): Promise<ReadFound | null> =>
  readAnswer(node, signature, 'confirmed', (answer) => {
    const executed = executedOf(answer, signature)
    return { executed, isBooked: isMoving(executed, booked, () => balancesIn(answer, signature).accounts) }
  })

/** Anyone can name a wallet in a transaction. The ledger needs only those that change the wallet's balances. */
function isMoving(
  { message }: HistoricTransaction,
  booked: ReadonlySet<string>,
  readAccounts: () => ReturnType<typeof balancesIn>['accounts'],
): boolean {
  if (booked.size === 0) return false
  if (message.keys.slice(0, message.signers).some((key) => booked.has(key))) return true
  try {
    return readAccounts().some(
      ({ address, before, after, holdings }) =>
        (booked.has(address) && before !== after) ||
        holdings.some((held) => booked.has(held.owner) && (held.before !== held.after || before !== after)),
    )
  } catch {
    // If the node shows no balances, the ledger says so instead of reporting that nothing moved.
    return message.keys.some((key) => booked.has(key))
  }
}
