/** Writes a transaction of version 0 as a legacy one, which every wallet reads. */
import { SIGNATURE_BYTES } from './constants.ts'
import type { DecodedMessage } from './decoded-message.ts'

/**
 * Returns the wire bytes with the same message in the legacy format, unsigned. Only the prefix and the empty list of
 * lookup tables go. Throws RangeError for another version, and for a message with lookup tables.
 */
export function legacyOf({
  message,
  messageBytes,
}: {
  message: Pick<DecodedMessage, 'version' | 'lookups' | 'signers'>
  messageBytes: Uint8Array
}): Uint8Array {
  if (message.version !== 0 || message.lookups.length > 0) throw new RangeError('only a message without lookup tables')
  const legacy = messageBytes.subarray(1, -1)
  const raw = new Uint8Array(1 + SIGNATURE_BYTES * message.signers + legacy.length)
  raw[0] = message.signers
  raw.set(legacy, raw.length - legacy.length)
  return raw
}
