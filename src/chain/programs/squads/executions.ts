/** Finds the transaction that executed a proposal in the history of its account. */
import { type DecodedTransaction, decodeWireTransaction } from '../../../solana/messages.ts'
import { SQUADS } from '../../../solana/programs/squads.ts'
import { squadsProposalAddress, squadsTransactionAddress } from '../../../solana/squads/index.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import {
  executedOf,
  executionOrder,
  type ListedSignature,
  listSignatures,
  readAnswer,
  UnreadableTransaction,
} from '../../reads/history.ts'

/** Transactions that are read. Anybody can name the account in others, so those nearest to the time come first. */
const MOST_READ = 30
/** Calls that list the history, of a thousand transactions each. */
const MOST_PAGES = 5

interface FoundExecution {
  transaction: DecodedTransaction
  slot: number
}

interface WantedExecution {
  multisig: string
  index: bigint
  /** Time of the execution by the chain's clock, as far as it is known, in Unix milliseconds; 0 reads the oldest first. */
  near: number
}

/**
 * Returns null if the node does not know it (yet). It may have been called by another program. Throws internal_error
 * when the node fails.
 */
export async function readExecution(
  node: NodeCalls,
  { multisig, index, near }: WantedExecution,
): Promise<FoundExecution | null> {
  const proposal = squadsProposalAddress(multisig, index)
  const place = { proposal, transaction: squadsTransactionAddress(multisig, index) }
  const distance = ({ at }: ListedSignature) => Math.abs((at ?? near) - near)
  const candidates = (await history(node, proposal, near))
    .filter(({ isFailed }) => !isFailed)
    .sort((one, other) => distance(one) - distance(other))
  for (const { signature } of candidates.slice(0, MOST_READ)) {
    try {
      const found = await readAnswer(node, signature, 'confirmed', (answer) => executionIn(answer, signature, place))
      if (found !== null) return found
    } catch (error) {
      // Anybody can name the account in a transaction that cannot be read here.
      if (!(error instanceof UnreadableTransaction)) throw error
    }
  }
  return null
}

/** Lists the account's transactions back to the time. */
async function history(node: NodeCalls, address: string, near: number): Promise<ListedSignature[]> {
  const listed: ListedSignature[] = []
  for (let page = 0; page < MOST_PAGES; page++) {
    const part = await listSignatures(node, address, { before: listed.at(-1)?.signature })
    listed.push(...part)
    const oldest = part.at(-1)?.at ?? null
    if (part.length === 0 || (oldest !== null && oldest < near)) break
  }
  return listed
}

/** Only a call of the program with the accounts of this proposal executes it; logs can be written by any program. */
function executionIn(
  answer: unknown,
  wanted: string,
  { proposal, transaction }: { proposal: string; transaction: string },
): FoundExecution | null {
  const executed = executedOf(answer, wanted)
  if (executed.isFailed) return null
  const executes = SQUADS.callsIn(executionOrder(executed)).some(
    (call) =>
      call.name === 'vault_transaction_execute' &&
      call.accounts.proposal === proposal &&
      call.accounts.transaction === transaction,
  )
  if (!executes) return null
  const [text = ''] = (answer as { transaction: [string] }).transaction
  return { transaction: decodeWireTransaction(Buffer.from(text, 'base64')), slot: executed.slot }
}
