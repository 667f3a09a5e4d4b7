/** Adds to a message what a vault executed by it: the instructions are stored on the chain, not in the message. */
import type { Services } from '../context.ts'
import type { CompiledInstruction, DecodedMessage } from '../solana/decoded-message.ts'
import { loadedCount } from '../solana/lookup-tables.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { executedTransactions, unwrapMessage } from '../solana/squads/index.ts'
import { executedMessages } from '../store/proposals/proposals.ts'
import { unpackMessage } from '../store/proposals/stored-message.ts'

/** Returns the message itself if no proposal that is known here was executed by it. */
export async function withVaultCalls(
  { store, chain }: Pick<Services, 'store' | 'chain'>,
  message: DecodedMessage,
  signature: string,
): Promise<DecodedMessage> {
  const { keys } = message
  // Another program may call it, and tables may load the program's address.
  if (message.lookups.length === 0 && !keys.includes(PROGRAMS.squads.id)) return message
  const addresses = executedTransactions(message)
  const genesis = await chain.genesisHash()
  const proposals = await executedMessages(store.db, { genesis, addresses, signature })
  return proposals.reduce((whole, { stored_message: stored }) => {
    if (stored === null) return whole
    return appended(whole, unwrapMessage(unpackMessage(stored)))
  }, message)
}

/** The accounts of lookup tables have their places behind the message's own keys, so that theirs stay free. */
function appended(message: DecodedMessage, inner: DecodedMessage): DecodedMessage {
  const keys = [...message.keys, ...Array.from({ length: loadedCount(message) }, () => '')]
  const moved = (place: number) => place + keys.length
  const calls = inner.instructions.map(
    ({ programIdIndex, accounts, data }): CompiledInstruction => ({
      programIdIndex: moved(programIdIndex),
      // Its places are bytes: a message and a stored one have at most 255 accounts together.
      accounts: Uint8Array.from(accounts, moved),
      data,
    }),
  )
  return { ...message, lookups: [], keys: [...keys, ...inner.keys], instructions: [...message.instructions, ...calls] }
}
