/** Finds accounts in transactions of this service that may still return their rent, so that none is reclaimed twice. */
import type { Context } from '../../context.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { decodeInstruction } from '../../solana/instructions.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { unconfirmedTransactions } from '../../store/transactions/transactions.ts'

/** Returns the accounts that unconfirmed transactions which the wallet has signed withdraw from or close. */
export async function pendingReclaims({ store, chain }: Context, wallet: string): Promise<ReadonlySet<string>> {
  const key = Buffer.from(addressBytes(wallet))
  const rows = await unconfirmedTransactions(store.db, await chain.genesisHash(), 0)
  return new Set(rows.flatMap(({ raw }) => (raw.includes(key) ? reclaimedIn(raw, wallet) : [])))
}

function reclaimedIn(raw: Uint8Array, wallet: string): string[] {
  const { keys, signers, instructions } = decodeWireTransaction(raw).message
  // Anybody can name accounts of others in a transaction that never lands.
  if (!keys.slice(0, signers).includes(wallet)) return []
  return instructions.flatMap(({ programIdIndex, accounts, data }) => {
    const named = Array.from(accounts, (index) => keys[index] ?? '')
    const decoded = decodeInstruction(keys[programIdIndex] ?? '', named, data)
    if (decoded?.program !== 'token') return []
    const { instruction } = decoded
    if (instruction.type === 'withdrawExcessLamports') return [instruction.source]
    return instruction.type === 'closeAccount' ? [instruction.account] : []
  })
}
