/** Finds reasons why a movement is uncertain: encrypted balances, and nonces of others that keep a transaction valid. */

import { addressOf } from '../../solana/addresses.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { lifetimeOf } from '../../solana/lifetimes.ts'
import type { UnreadPart } from './movement.ts'
import { NONCE_AUTHORITY_OFFSET, nonceAuthority, type TouchedAccounts } from './touched-accounts.ts'

/** Token-2022's extension ConfidentialTransferAccount (spl-token-2022, `ExtensionType`). */
const CONFIDENTIAL_TRANSFER = 5
/** Offset of the extensions in a Token-2022 account, after its 165 bytes and its account type. */
const EXTENSIONS_OFFSET = 166

/** Balances of a confidential transfer are encrypted, so the amount that leaves is unknown. */
export function confidentialBalances(wallet: string, accounts: TouchedAccounts): UnreadPart[] {
  return [...accounts.values()].flatMap(({ address, before, after, isOwnToken }) => {
    if (!isOwnToken || address === wallet) return []
    const [old, now] = [before.account?.data, after.account?.data]
    if (old !== undefined && now !== undefined && Buffer.from(old).equals(now)) return []
    const isHidden = [old, now].some((data) => data !== undefined && hasExtension(data, CONFIDENTIAL_TRANSFER))
    return isHidden ? [{ where: address, reason: 'has a confidential balance, which cannot be read' }] : []
  })
}

/** Data whose extensions cannot be read to the end counts as having the extension. */
function hasExtension(data: Uint8Array, type: number): boolean {
  if (data.length < EXTENSIONS_OFFSET) return false
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let at = EXTENSIONS_OFFSET
  while (at + 4 <= data.length) {
    const current = view.getUint16(at, true)
    if (current === 0) return false
    if (current === type) return true
    at += 4 + view.getUint16(at + 2, true)
  }
  return at > data.length
}

/** With another's durable nonce, the signature would remain valid until that authority advances the nonce. */
export function foreignNonce(message: DecodedMessage, wallet: string, accounts: TouchedAccounts): UnreadPart[] {
  const { nonceAccount } = lifetimeOf(message)
  if (nonceAccount === null) return []
  const account = accounts.get(nonceAccount)?.before.account ?? null
  if (nonceAuthority(account) === wallet) return []
  const end = NONCE_AUTHORITY_OFFSET + 32
  const isShort = account === null || account.data.length < end
  const authority = isShort ? 'somebody' : addressOf(account.data.subarray(NONCE_AUTHORITY_OFFSET, end))
  return [{ where: nonceAccount, reason: `a durable nonce of ${authority} keeps the transaction from expiring` }]
}
