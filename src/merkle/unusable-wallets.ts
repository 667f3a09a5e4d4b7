/** Finds the wallets of a list that nobody can sign for, by their addresses, without asking the chain. */
import { type AddressFault, bareAddressFault } from '../solana/bare-addresses.ts'
import { keyToBase58 } from './base58.ts'
import { type EntryList, RECORD_BYTES, walletAt } from './entry-list.ts'

export interface UnusableWallets {
  count: number
  /** Number of checked wallets. */
  checked: number
  isSampled: boolean
  /** The first unusable wallets, with their places in the list. */
  first: { index: number; wallet: string; reason: AddressFault }[]
}

const MOST_NAMED = 5

/** Checks `most` wallets spread over the list; each takes about 15 µs. */
export function unusableWallets(list: EntryList, most: number): UnusableWallets {
  const step = Math.ceil(list.count / most)
  const found: UnusableWallets = { count: 0, checked: 0, isSampled: step > 1, first: [] }
  for (let index = 0; index < list.count; index += step) {
    found.checked++
    const wallet = keyToBase58(list.bytes, index * RECORD_BYTES)
    const reason = bareAddressFault(wallet, walletAt(list, index))
    if (reason === null) continue
    found.count++
    if (found.first.length < MOST_NAMED) found.first.push({ index, wallet, reason })
  }
  return found
}

/** Describes unusable wallets in a sentence, if there are any. */
export function unusableWarnings({ count, checked, isSampled, first }: UnusableWallets): string[] {
  if (count === 0) return []
  const named = first.map(({ index, wallet, reason }) => `entries.${index} ${wallet} (${reason})`).join(', ')
  return [
    `${count} of ${checked} addresses${isSampled ? ' checked' : ''} are not wallets, so nobody could claim: ${named}${count > first.length ? ', …' : ''}. Name the owners of token accounts instead; an airdrop of this list is refused unless allow_programs (\`--allow-programs\`) says that vaults are meant`,
  ]
}
