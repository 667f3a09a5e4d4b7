/** Blockhashes of the embedded chain. They are derived from the chain's seed and the slot, so that none needs to be stored. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { BLOCKHASH_SLOTS, SLOT_HASHES } from '../solana/constants.ts'

export class Blockhashes {
  /** What is hashed: the seed, a word, and the slot, which each call sets. */
  readonly #preimage: Buffer
  /** Usable blockhashes and their slots, oldest first. */
  readonly #slots = new Map<string, number>()
  #newest = Number.NEGATIVE_INFINITY

  constructor(seed: Uint8Array) {
    this.#preimage = Buffer.concat([seed, Buffer.from('blockhash'), Buffer.alloc(8)])
  }

  bytes(slot: number): Buffer {
    this.#preimage.writeBigUInt64LE(BigInt(slot), this.#preimage.length - 8)
    return createHash('sha256').update(this.#preimage).digest()
  }

  text(slot: number): string {
    return base58.encode(this.bytes(slot))
  }

  /** Returns the slot of a blockhash that is still usable at `current`, otherwise null. */
  slotOf(blockhash: string, current: number): number | null {
    this.#roll(current)
    return this.#slots.get(blockhash) ?? null
  }

  #roll(current: number): void {
    if (current === this.#newest) return
    if (current - this.#newest > BLOCKHASH_SLOTS) this.#slots.clear()
    for (let slot = Math.max(this.#newest + 1, current - BLOCKHASH_SLOTS); slot <= current; slot++) {
      this.#slots.set(this.text(slot), slot)
    }
    for (const [text, slot] of this.#slots) {
      if (slot >= current - BLOCKHASH_SLOTS) break
      this.#slots.delete(text)
    }
    this.#newest = current
  }
}

/** Data of the SlotHashes sysvar for the current slot, newest first and including the slot itself. */
export class SlotHashes {
  readonly #blockhashes: Blockhashes
  readonly #data = Buffer.alloc(8 + SLOT_HASHES * 40)
  #newest = Number.NEGATIVE_INFINITY

  constructor(blockhashes: Blockhashes) {
    this.#blockhashes = blockhashes
    this.#data.writeBigUInt64LE(BigInt(SLOT_HASHES))
  }

  /** Returns the sysvar's account data at a slot; the next call reuses the buffer. */
  at(slot: number): Buffer {
    const newSlots = Math.min(slot - this.#newest, SLOT_HASHES)
    if (newSlots <= 0) return this.#data
    this.#data.copyWithin(8 + newSlots * 40, 8, 8 + (SLOT_HASHES - newSlots) * 40)
    for (let i = 0; i < newSlots; i++) {
      this.#data.writeBigUInt64LE(BigInt(slot - i), 8 + i * 40)
      this.#blockhashes.bytes(slot - i).copy(this.#data, 16 + i * 40)
    }
    this.#newest = slot
    return this.#data
  }
}
