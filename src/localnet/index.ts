/** Opens the embedded chain: a real Solana runtime with its state and history in a folder. */
import { EmbeddedChain } from './local-chain.ts'
import { openParts } from './opening.ts'
import type { LocalChain, LocalChainOptions } from './types.ts'

export { MalformedTransaction } from '../solana/messages.ts'
export { GENESIS_SLOT, SLOTS_PER_EPOCH } from './clock.ts'
export { ChainLockedError } from './journal.ts'

/** Opens the chain in `dataDir`, or creates one there. Throws ChainLockedError when another process has it open. */
export async function openLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  return new EmbeddedChain(await openParts(options))
}
