/** Encodes transactions in the browser: a legacy or version 0 message, with room for its signatures. */

import { joinBytes } from '../../solana/bytes.ts'
import { compactLength } from '../../solana/compact-lengths.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { requireKey } from './program-addresses.ts'

export type AccountUse = PlainInstruction['accounts'][number]

export type MessageVersion = 0 | 'legacy'

/** Accounts in the order of a message: the payer, other signers, then all others; writable ones first in each group. */
function accountsOf(payer: string, instructions: readonly PlainInstruction[]): AccountUse[] {
  const uses = new Map<string, AccountUse>([[payer, { address: payer, isSigner: true, isWritable: true }]])
  const add = ({ address, isSigner, isWritable }: AccountUse) => {
    const known = uses.get(address)
    if (known === undefined) uses.set(address, { address, isSigner, isWritable })
    else Object.assign(known, { isSigner: known.isSigner || isSigner, isWritable: known.isWritable || isWritable })
  }
  for (const { program, accounts } of instructions) {
    add({ address: program, isSigner: false, isWritable: false })
    for (const account of accounts) add(account)
  }
  const rank = ({ isSigner, isWritable }: AccountUse) => (isSigner ? 0 : 2) + (isWritable ? 0 : 1)
  return [...uses.values()].sort((a, b) => rank(a) - rank(b))
}

/** Encodes a message without lookup tables, byte for byte as web3.js does. */
export function compileMessage(
  payer: string,
  instructions: readonly PlainInstruction[],
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
      count(({ isSigner }) => isSigner),
      count(({ isSigner, isWritable }) => isSigner && !isWritable),
      count(({ isSigner, isWritable }) => !isSigner && !isWritable),
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
