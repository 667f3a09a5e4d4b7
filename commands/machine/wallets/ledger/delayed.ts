/**
 * Delayed signing of the Solana app from 1.14.0 on: a person reviews a transaction for as long as they like, and the app
 * then signs it once with any blockhash. It compares everything else itself.
 */
import type { LedgerKey } from './device.ts'
import type { SolanaApp } from './packages.ts'

const CLASS = 0xe0
const [REVIEW, SIGN_REVIEWED] = [0x08, 0x09]
const CONFIRM = 1
/** Flags of the parts of one request: it continues the part before, and another part follows. */
const [CONTINUES, MORE] = [1, 2]
const MOST_BYTES = 255
const HARDENED = 0x80000000

/** Whether the app can. Its package does not have these requests yet. */
export async function signsDelayed(app: SolanaApp): Promise<boolean> {
  const { version } = await app.getAppConfiguration()
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 1 || (major === 1 && minor >= 14)
}

/** Resolves once the person has approved the message with whatever blockhash. */
export async function reviewTransaction(key: LedgerKey, message: Uint8Array): Promise<void> {
  await request(key, REVIEW, message)
}

/** The signature of the message that was reviewed, with another blockhash; nothing is asked. */
export async function signReviewed(key: LedgerKey, message: Uint8Array): Promise<Uint8Array> {
  const answer = await request(key, SIGN_REVIEWED, message)
  return answer.subarray(0, 64)
}

/** The number of paths, which is 1, the path as the number of its indexes and four bytes for each, and the message. */
async function request({ transport, path }: LedgerKey, instruction: number, message: Uint8Array): Promise<Uint8Array> {
  const indexes = path.split('/').map((index) => Number.parseInt(index, 10) + HARDENED)
  const head = Buffer.alloc(2 + 4 * indexes.length)
  head.writeUInt8(1, 0)
  head.writeUInt8(indexes.length, 1)
  for (const [i, index] of indexes.entries()) head.writeUInt32BE(index, 2 + 4 * i)
  const payload = Buffer.concat([head, message])
  for (let from = 0; ; from += MOST_BYTES) {
    const isLast = from + MOST_BYTES >= payload.length
    const flags = (from > 0 ? CONTINUES : 0) | (isLast ? 0 : MORE)
    const part = payload.subarray(from, from + MOST_BYTES)
    const answer = await transport.send(CLASS, instruction, CONFIRM, flags, part)
    if (isLast) return answer
  }
}
