/** Finds the wallets of a list that nobody can sign for, as far as their addresses tell: the chain is not asked. */
import { type AddressFault, bareAddressFault } from '../solana/bare-addresses.ts'
import { keyToBase58 } from './base58.ts'
import { type EntryList, RECORD_BYTES, walletAt } from './entry-list.ts'

export interface UnusableWallets {
  count: number
  /** Wallets that were looked at. */
  checked: number
  isSampled: boolean
  /** The first ones, with their places in the list. */
  first: { index: number; wallet: string; reason: AddressFault }[]
}

const MOST_NAMED = 5

/** Looks at `most` wallets all over the list; each takes about 15 µs. */
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

/** Says it in a sentence, if there is something to say. */
export function unusableWarnings({ count, checked, isSampled, first }: UnusableWallets): string[] {
  if (count === 0) return []
  const named = first.map(({ index, wallet, reason }) => `entries.${index} ${wallet} (${reason})`).join(', ')
  return [
    `${count} of ${checked} addresses${isSampled ? ' checked' : ''} are not wallets, so nobody could claim: ${named}${count > first.length ? ', …' : ''}. Name the owners of token accounts instead; an airdrop of this list is refused unless allow_programs (\`--allow-programs\`) says that vaults are meant`,
  ]
}
