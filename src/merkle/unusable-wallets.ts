/** Finds the wallets of a list that no key can sign for, by their addresses, without reading the chain. */
import { type AddressFault, KEYLESS, keyFault } from '../solana/bare-addresses.ts'
import { keyFromBase58, keyToBase58 } from './base58.ts'
import { type EntryList, walletAt } from './entry-list.ts'

interface UnusableWallets {
  count: number
  /** Number of checked wallets. */
  checked: number
  isSampled: boolean
  /** The first unusable wallets, with their places in the list. */
  first: { index: number; wallet: string; reason: AddressFault }[]
}

const MOST_NAMED = 5

const hexOf = (key: Uint8Array) => Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex')

/** `KEYLESS` by bytes, because writing each wallet of a list in base58 takes half as long as its check. */
function keylessByHex(): Map<string, AddressFault> {
  const keyless = new Map<string, AddressFault>()
  for (const [address, reason] of KEYLESS) {
    const key = keyFromBase58(address)
    if (key !== undefined) keyless.set(hexOf(key), reason)
  }
  return keyless
}

/** Checks `most` wallets spread over the list; each takes about 15 µs. */
export function unusableWallets(list: EntryList, most: number): UnusableWallets {
  const step = Math.ceil(list.count / most)
  const keyless = keylessByHex()
  const found: UnusableWallets = { count: 0, checked: 0, isSampled: step > 1, first: [] }
  for (let index = 0; index < list.count; index += step) {
    found.checked++
    const key = walletAt(list, index)
    const reason = keyless.get(hexOf(key)) ?? keyFault(key)
    if (reason === null) continue
    found.count++
    if (found.first.length < MOST_NAMED) found.first.push({ index, wallet: keyToBase58(key), reason })
  }
  return found
}

/** Checking all addresses of a longer list would take more time than everything else, so some are. */
const MOST_WALLETS_CHECKED = 2_000
const CHECKED_OF_MORE = 500

/** The warnings of a list that is only read; of a long one some addresses are checked. */
export const listWarnings = (list: EntryList): string[] =>
  unusableWarnings(unusableWallets(list, list.count <= MOST_WALLETS_CHECKED ? list.count : CHECKED_OF_MORE))

const OF_AIRDROP =
  'so nobody could claim: $. Name the owners of token accounts instead; an airdrop of this list is refused unless allow_programs (`--allow-programs`) says that vaults are meant'
const OF_ALLOWLIST = 'so nobody could buy with them: $. Name the owners of token accounts instead'

/** Describes unusable wallets in a sentence, if there are any. */
export function unusableWarnings(
  { count, checked, isSampled, first }: UnusableWallets,
  list: 'airdrop' | 'allowlist' = 'airdrop',
): string[] {
  if (count === 0) return []
  const named = first.map(({ index, wallet, reason }) => `entries.${index} ${wallet} (${reason})`).join(', ')
  const words = list === 'airdrop' ? OF_AIRDROP : OF_ALLOWLIST
  const all = `${named}${count > first.length ? ', …' : ''}`
  return [
    `${count} of ${checked} addresses${isSampled ? ' checked' : ''} are not wallets, ${words.replace('$', () => all)}`,
  ]
}
