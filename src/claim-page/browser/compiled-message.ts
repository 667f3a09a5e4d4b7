/** Encodes transactions in the browser: a legacy or version 0 message, with room for its signatures. */

import { joinBytes } from '../../solana/bytes.ts'
import { compactLength } from '../../solana/compact-lengths.ts'
import { requireKey } from './program-addresses.ts'

export interface AccountUse {
  address: string
  signs: boolean
  writable: boolean
}

export interface PageInstruction {
  program: string
  accounts: readonly AccountUse[]
  data: Uint8Array
}

export type MessageVersion = 0 | 'legacy'

/** Accounts in the order of a message: the payer, other signers, then all others; writable ones first in each group. */
function accountsOf(payer: string, instructions: readonly PageInstruction[]): AccountUse[] {
  const uses = new Map<string, AccountUse>([[payer, { address: payer, signs: true, writable: true }]])
  const add = ({ address, signs, writable }: AccountUse) => {
    const known = uses.get(address)
    if (known === undefined) uses.set(address, { address, signs, writable })
    else Object.assign(known, { signs: known.signs || signs, writable: known.writable || writable })
  }
  for (const { program, accounts } of instructions) {
    add({ address: program, signs: false, writable: false })
    for (const account of accounts) add(account)
  }
  const rank = ({ signs, writable }: AccountUse) => (signs ? 0 : 2) + (writable ? 0 : 1)
  return [...uses.values()].sort((a, b) => rank(a) - rank(b))
}

/** Encodes a message without lookup tables, byte for byte as web3.js does. */
export function compileMessage(
  payer: string,
  instructions: readonly PageInstruction[],
  blockhash: string,
  version: MessageVersion = 0,
): Uint8Array {
  const accounts = accountsOf(payer, instructions)
  const places = new Map(accounts.map(({ address }, place) => [address, place]))
  const placeOf = (address: string) => places.get(address) ?? 0
  const count = (test: (use: AccountUse) => boolean) => accounts.filter(test).length
  return joinBytes([
    Uint8Array.from(version === 0 ? [0x80] : []),
    Uint8Array.of(
      count(({ signs }) => signs),
      count(({ signs, writable }) => signs && !writable),
      count(({ signs, writable }) => !signs && !writable),
      ...compactLength(accounts.length),
    ),
    ...accounts.map(({ address }) => requireKey(address)),
    requireKey(blockhash),
    Uint8Array.from(compactLength(instructions.length)),
    ...instructions.flatMap(({ program, accounts: used, data }) => [
      Uint8Array.of(placeOf(program), ...compactLength(used.length), ...used.map(({ address }) => placeOf(address))),
      Uint8Array.from(compactLength(data.length)),
      data,
    ]),
    Uint8Array.from(version === 0 ? [0] : []),
  ])
}

/** A transaction with one signer, who has not signed yet. */
export const unsignedTransactionOf = (message: Uint8Array): Uint8Array =>
  joinBytes([Uint8Array.of(1), new Uint8Array(64), message])
