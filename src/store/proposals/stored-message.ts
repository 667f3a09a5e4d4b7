/** Stores a vault transaction's message with the addresses of its lookup tables, and reads it back. */
import { type PinnedMessage, pinMessage, readStoredMessage, storedMessage } from '../../solana/squads/index.ts'

interface Packed {
  /** Base64 of the message as the program stores it. */
  message: string
  loaded: PinnedMessage['loaded']
}

export function packMessage(message: PinnedMessage): Buffer {
  const packed: Packed = { message: Buffer.from(storedMessage(message)).toString('base64'), loaded: message.loaded }
  return Buffer.from(JSON.stringify(packed))
}

export function unpackMessage(bytes: Uint8Array): PinnedMessage {
  const { message, loaded }: Packed = JSON.parse(Buffer.from(bytes).toString('utf8'))
  return pinMessage(readStoredMessage(Buffer.from(message, 'base64')), loaded)
}
