/** Opens the embedded chain: a real Solana runtime with its state and history in a folder. */
import { EmbeddedChain } from './local-chain.ts'
import { openParts } from './opening.ts'
import type { LocalChain, LocalChainOptions } from './types.ts'

export { MalformedTransaction } from '../solana/messages.ts'
export { GENESIS_SLOT, SLOTS_PER_EPOCH } from './clock.ts'
export { ChainLockedError } from './journal.ts'

/**
 * Opens the chain in `dataDir`, or creates one there. Throws ChainLockedError if another process has it open.
 *
 * @example
 * const chain = await openLocalChain({ dataDir, programsDir })
 * const connection = new Connection('http://localnet', { fetch: localFetch(createRpc(chain)) })
 */
export async function openLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  return new EmbeddedChain(await openParts(options))
}
