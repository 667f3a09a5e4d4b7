/** Reads version 1 messages, whose layout and limits are those of SIMD-0385. */
import type { DecodedMessage } from './decoded-message.ts'
import { MessageReader, malformed } from './message-reader.ts'
import { checkConfigMask, readConfig } from './transaction-config.ts'

/** Largest numbers in a version 1 message. */
export const MAX_V1_SIGNERS = 12
export const MAX_V1_KEYS = 64
export const MAX_V1_INSTRUCTIONS = 64

/**
 * Reads a message up to its last byte, without the checks that all versions share. The runtime aborts on bytes that were
 * not checked to their end. Throws MalformedTransaction.
 */
export function readV1(bytes: Uint8Array): DecodedMessage {
  const reader = new MessageReader(bytes)
  reader.byte('its version')
  const signers = reader.byte('its header')
  const readonlySigners = reader.byte('its header')
  const readonlyOthers = reader.byte('its header')
  const mask = reader.u32('its config mask')
  const blockhashOffset = reader.offset
  const recentBlockhash = reader.key('its blockhash')
  const instructionCount = reader.byte('its number of instructions')
  const keyCount = reader.byte('its number of account keys')
  for (const [count, most, what] of [
    [signers, MAX_V1_SIGNERS, 'signers'],
    [keyCount, MAX_V1_KEYS, 'account keys'],
    [instructionCount, MAX_V1_INSTRUCTIONS, 'instructions'],
  ] as const) {
    if (count > most) throw malformed(`it has ${count} ${what}, at most ${most} are possible`)
  }
  checkConfigMask(mask)
  const keys = Array.from({ length: keyCount }, () => reader.key('its account keys'))
  if (new Set(keys).size !== keys.length) throw malformed('it names an account twice')
  const config = readConfig(reader, mask)
  const heads = Array.from({ length: instructionCount }, () => ({
    programIdIndex: reader.byte('its instructions'),
    accountCount: reader.byte('its instructions'),
    dataBytes: reader.u16('its instructions'),
  }))
  const instructions = heads.map(({ programIdIndex, accountCount, dataBytes }) => ({
    programIdIndex,
    accounts: reader.take(accountCount, 'its instructions'),
    data: reader.take(dataBytes, 'its instructions'),
  }))
  reader.end()
  return {
    version: 1,
    signers,
    readonlySigners,
    readonlyOthers,
    keys,
    recentBlockhash,
    blockhashOffset,
    instructions,
    lookups: [],
    config,
  }
}
