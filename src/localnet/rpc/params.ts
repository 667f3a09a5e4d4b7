/** Reads the positional params of a request, with a validator's error messages. */

import { base58 } from '@scure/base'
import type { Commitment } from '../../solana/constants.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import { invalidParams } from './errors.ts'

export type RpcConfig = Record<string, unknown>

const COMMITMENTS: Record<string, Commitment> = {
  processed: 'processed',
  confirmed: 'confirmed',
  finalized: 'finalized',
  recent: 'processed',
  single: 'confirmed',
  singleGossip: 'confirmed',
  root: 'finalized',
  max: 'finalized',
}

const jsonKind = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`
  if (typeof value === 'number' || typeof value === 'bigint') return `integer \`${value}\``
  if (typeof value === 'boolean') return `boolean \`${value}\``
  return Array.isArray(value) ? 'sequence' : 'map'
}

const wrongType = (value: unknown, expected: string) =>
  invalidParams(`Invalid params: invalid type: ${jsonKind(value)}, expected ${expected}.`)

/** Decodes base58 text of exactly `size` bytes. Throws `Invalid param: WrongSize` or `Invalid`. */
export function decodeBase58OfSize(text: string, size: number): Uint8Array {
  let bytes: Uint8Array
  if (text.length > size * 2) throw invalidParams('Invalid param: WrongSize')
  try {
    bytes = base58.decode(text)
  } catch {
    throw invalidParams('Invalid param: Invalid')
  }
  if (bytes.length !== size) throw invalidParams('Invalid param: WrongSize')
  return bytes
}

export function asPubkey(value: unknown): string {
  if (typeof value !== 'string') throw wrongType(value, 'a string')
  decodeBase58OfSize(value, 32)
  return value
}

export function asSignature(value: unknown): string {
  if (typeof value !== 'string') throw wrongType(value, 'a string')
  decodeBase58OfSize(value, 64)
  return value
}

export function asList(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw wrongType(value, 'a sequence')
  return value
}

/** Reads a u64 that a double represents exactly, such as a limit or an offset. */
export function asInteger(value: unknown): number {
  const number = typeof value === 'bigint' && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) throw wrongType(value, 'u64')
  return number
}

/** Reads a u64 of any size, such as a slot, lamports or raw units. */
export function asAmount(value: unknown): bigint {
  const fits = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
  const amount = fits ? BigInt(value) : -1n
  if (amount < 0n || amount > MAX_U64) throw wrongType(value, 'u64')
  return amount
}

/** Reads a u64 of which only the order matters; one that a double cannot represent becomes its largest value. */
export function asBoundedInteger(value: unknown): number {
  const number = asAmount(value)
  return number > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(number)
}

export function asConfig(value: unknown): RpcConfig {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(value, 'a map')
  return value as RpcConfig
}

export function asBoolean(value: unknown, otherwise = false): boolean {
  if (value === undefined || value === null) return otherwise
  if (typeof value !== 'boolean') throw wrongType(value, 'a boolean')
  return value
}

/**
 * Returns the commitment of a config that has nothing else; the default is `finalized`. As on a validator, an object
 * must have it.
 */
export function onlyCommitment(value: unknown): Commitment {
  const config = asConfig(value)
  if (value !== undefined && value !== null && config.commitment === undefined) {
    throw invalidParams('Invalid params: missing field `commitment`.')
  }
  return commitmentOf(config)
}

/** Returns the commitment of a config; the default is `finalized`. */
export function commitmentOf(config: RpcConfig, otherwise: Commitment = 'finalized', key = 'commitment'): Commitment {
  const name = config[key]
  if (name === undefined || name === null) return otherwise
  return oneOf(name, COMMITMENTS, ['processed', 'confirmed', 'finalized'])
}

/** Returns the entry of `choices` named by `value`. Throws serde's message, which lists only the current names. */
export function oneOf<T>(value: unknown, choices: Readonly<Record<string, T>>, current = Object.keys(choices)): T {
  if (typeof value !== 'string') throw wrongType(value, 'a string')
  if (Object.hasOwn(choices, value)) return choices[value] as T
  const names = current.map((name) => `\`${name}\``).join(', ')
  throw invalidParams(`Invalid params: unknown variant \`${value}\`, expected one of ${names}.`)
}

export function requireParams(params: readonly unknown[], count: number): void {
  if (params.length < count) throw invalidParams(`\`params\` should have at least ${count} argument(s)`)
}
