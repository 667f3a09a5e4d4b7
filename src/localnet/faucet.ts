/** The faucet: a key derived from the chain's seed that owns the initial lamports and signs airdrops. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { addressBytes } from '../solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import { SYSTEM } from '../solana/programs/system.ts'
import { keyPairOf } from '../solana/signatures.ts'

/** Lamports of the faucet at genesis, 5 million SOL. */
export const FAUCET_LAMPORTS = 5_000_000n * 1_000_000_000n

export interface Faucet {
  address: string
  /**
   * Returns a signed transfer, with one instruction as on a validator. Its data ends with `nonce`, which the System
   * program does not read, so that equal airdrops in a slot have different signatures.
   */
  transfer(to: string, lamports: bigint, blockhash: string, nonce: number): Uint8Array
}

export function openFaucet(seed: Uint8Array): Faucet {
  const { address, publicKey, sign } = keyPairOf(createHash('sha256').update(seed).update('faucet').digest())
  return {
    address,
    transfer(to, lamports, blockhash, nonce) {
      const end = Buffer.alloc(4)
      end.writeUInt32LE(nonce % 2 ** 32)
      const transfer = Buffer.concat([SYSTEM.data('transfer', { lamports }), end])
      const toSelf = to === address
      const keys = [publicKey, ...(toSelf ? [] : [addressBytes(to)])]
      const system = keys.length
      const message = Buffer.concat([
        Buffer.from([1, 0, 1, keys.length + 1]),
        ...keys,
        addressBytes(SYSTEM_PROGRAM),
        base58.decode(blockhash),
        Buffer.from([1, system, 2, 0, toSelf ? 0 : 1, transfer.length]),
        transfer,
      ])
      return Buffer.concat([Buffer.from([1]), sign(message), message])
    },
  }
}
