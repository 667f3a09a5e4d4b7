/** Base58 of bytes of any length; the library refuses more than 2,048, and the data of an instruction may have more. */
import { base58 } from '@scure/base'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Bytes that the library takes. */
const LIBRARY_BYTES = 2_048
/** Digits that are taken off at once: the most whose values a double holds exactly. */
const GROUP = 9
const GROUP_VALUE = 58n ** BigInt(GROUP)

/** Returns the base58 text of bytes; each zero byte at their start is a `1`. Takes milliseconds for 10 KiB. */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length <= LIBRARY_BYTES) return base58.encode(bytes)
  const first = bytes.findIndex((byte) => byte !== 0)
  if (first === -1) return '1'.repeat(bytes.length)
  let rest = BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`)
  const groups: string[] = []
  while (rest > 0n) {
    groups.push(digitsOf(Number(rest % GROUP_VALUE)))
    rest /= GROUP_VALUE
  }
  return '1'.repeat(first) + groups.reverse().join('').replace(/^1+/, '')
}

function digitsOf(group: number): string {
  let digits = ''
  let rest = group
  for (let place = 0; place < GROUP; place++) {
    digits = ALPHABET.charAt(rest % 58) + digits
    rest = Math.floor(rest / 58)
  }
  return digits
}
