/** Reads an account from a JSON file: the form of the Solana CLI (`solana account --output json`), or its account alone. */
import type { DatedAccount } from './accounts.ts'
import { addressBytes, isAddress } from './addresses.ts'
import { MAX_U64 } from './u64.ts'

interface FiledAccount {
  address: string
  account: DatedAccount
}

/**
 * Takes the file's parsed JSON and the name that the file has without its extension, which is the address unless the
 * file has a `pubkey`. Lamports are a number or digits, data is base64. Throws an Error that names the field.
 */
export function readFiledAccount(json: unknown, name: string): FiledAccount {
  const { pubkey, account } = (json ?? {}) as { pubkey?: unknown; account?: unknown }
  if (pubkey !== undefined && (typeof pubkey !== 'string' || !isAddress(pubkey)))
    throw new Error('its "pubkey" must be an address')
  if (pubkey !== undefined && pubkey !== name && isAddress(name)) throw new Error(`it is of account ${pubkey}`)
  const address = pubkey ?? name
  addressBytes(address)
  const { lamports, owner, data, executable, rentEpoch: epoch } = (account ?? json ?? {}) as Record<string, unknown>
  // JSON.parse rounds u64::MAX, which nodes answer for exempt accounts.
  const rentEpoch = epoch === 2 ** 64 ? MAX_U64 : epoch
  const text = Array.isArray(data) && data[1] === 'base64' ? data[0] : data
  if (!isU64(lamports)) throw new Error('its "lamports" must be a whole number')
  if (typeof owner !== 'string') throw new Error('its "owner" must be an address')
  addressBytes(owner)
  if (typeof text !== 'string') throw new Error('its "data" must be base64 text')
  if (rentEpoch !== undefined && !isU64(rentEpoch)) throw new Error('its "rentEpoch" must be a whole number')
  const read = {
    lamports: BigInt(String(lamports)),
    owner,
    data: Buffer.from(text, 'base64'),
    executable: executable === true,
  }
  if (rentEpoch === undefined || BigInt(String(rentEpoch)) === MAX_U64) return { address, account: read }
  return { address, account: { ...read, rentEpoch: BigInt(String(rentEpoch)) } }
}

/** A number that JavaScript cannot hold exactly must be read as a bigint or digits. */
const isU64 = (value: unknown): boolean =>
  /^\d{1,20}$/.test(String(value)) &&
  (typeof value !== 'number' || Number.isSafeInteger(value)) &&
  BigInt(String(value)) <= MAX_U64
