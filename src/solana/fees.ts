/** Computes the cost of a transaction: 5,000 lamports per signature plus the priority fee that it offers. */

import { MAX_COMPUTE_UNITS } from './constants.ts'
import type { DecodedMessage } from './decoded-message.ts'
import { keyAt } from './messages.ts'
import {
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  LOADERS,
  SECP256K1_PROGRAM,
  SECP256R1_PROGRAM,
  SYSTEM_PROGRAM,
  VOTE_PROGRAM,
} from './program-ids.ts'
import { COMPUTE_BUDGET } from './programs/compute-budget.ts'

/** What the network takes for each signature. */
export const LAMPORTS_PER_SIGNATURE = 5000n
const MICRO_LAMPORTS = 1_000_000n
const UNITS_PER_INSTRUCTION = 200_000n
const UNITS_PER_BUILT_IN = 3_000n
/**
 * Built-in programs of the runtime, whose default unit limit is lower. Former built-ins that became on-chain programs
 * are excluded.
 */
const BUILT_IN = new Set<string>([
  SYSTEM_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  VOTE_PROGRAM,
  ED25519_PROGRAM,
  SECP256K1_PROGRAM,
  ...LOADERS,
])
const PRECOMPILES = new Set<string>([ED25519_PROGRAM, SECP256K1_PROGRAM, SECP256R1_PROGRAM])

/**
 * Returns the priority fee rate of a message in micro-lamports per compute unit, rounded down. A version 1 message states
 * its priority fee as a whole.
 */
export function unitPriceOf(message: DecodedMessage): bigint {
  if (message.config === null) return computeBudgetOf(message).price
  const { priorityFeeLamports, computeUnitLimit } = message.config
  const units = cappedUnits(BigInt(computeUnitLimit ?? 0))
  return units === 0n ? 0n : ((priorityFeeLamports ?? 0n) * MICRO_LAMPORTS) / units
}

/** Returns the fee of a message in lamports, priority fee included. */
export function feeOfMessage(message: DecodedMessage): bigint {
  let signatures = BigInt(message.signers)
  for (const { programIdIndex, data } of message.instructions) {
    if (PRECOMPILES.has(keyAt(message, programIdIndex))) signatures += BigInt(data[0] ?? 0)
  }
  return signatures * LAMPORTS_PER_SIGNATURE + priorityFeeOf(message)
}

/**
 * Returns the priority fee of a message in lamports. A version 1 message states it in its config, and its Compute Budget
 * instructions have no effect (SIMD-0385).
 */
function priorityFeeOf(message: DecodedMessage): bigint {
  if (message.config !== null) return message.config.priorityFeeLamports ?? 0n
  const { units, price } = computeBudgetOf(message)
  return priorityFee(units, price)
}

/** Returns lamports, rounded up. The price is in micro-lamports per unit. */
export const priorityFee = (units: bigint, price: bigint): bigint =>
  (units * price + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS

function computeBudgetOf(message: DecodedMessage): { units: bigint; price: bigint } {
  let limit: bigint | null = null
  let price = 0n
  let byDefault = 0n
  for (const { programIdIndex, data } of message.instructions) {
    const program = keyAt(message, programIdIndex)
    byDefault += BUILT_IN.has(program) ? UNITS_PER_BUILT_IN : UNITS_PER_INSTRUCTION
    const budget = COMPUTE_BUDGET.flatCall(program, [], data)
    if (budget?.type === 'setComputeUnitLimit') limit = BigInt(budget.units)
    if (budget?.type === 'setComputeUnitPrice') price = budget.microLamports
  }
  return { units: cappedUnits(limit ?? byDefault), price }
}

function cappedUnits(units: bigint): bigint {
  const most = BigInt(MAX_COMPUTE_UNITS)
  return units < most ? units : most
}
