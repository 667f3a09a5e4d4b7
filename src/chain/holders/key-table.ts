/** Numbers keys of one length in the order of their arrival: a hash table in flat memory, for a million of them. */

const FIRST_CAPACITY = 1_024

/** Keys are compared by their bytes. The seed prevents a sender of keys from choosing their slots. */
export class KeyTable {
  readonly width: number
  readonly #seed = (Math.random() * 0x1_0000_0000) | 0
  #keys: Uint8Array
  #slots = new Int32Array(FIRST_CAPACITY * 2).fill(-1)
  #count = 0

  constructor(width: number) {
    this.width = width
    this.#keys = new Uint8Array(FIRST_CAPACITY * width)
  }

  get count(): number {
    return this.#count
  }

  /** Returns the number of the key, and whether it is new. */
  add(key: Uint8Array): { index: number; isNew: boolean } {
    if (this.#count * this.width === this.#keys.length) this.#grow()
    const slot = this.#slotOf(key, 0)
    const known = this.#slots[slot] ?? -1
    if (known !== -1) return { index: known, isNew: false }
    this.#keys.set(key, this.#count * this.width)
    this.#slots[slot] = this.#count
    return { index: this.#count++, isNew: true }
  }

  /** The bytes of a key as a view. */
  at(index: number): Uint8Array {
    return this.#keys.subarray(index * this.width, (index + 1) * this.width)
  }

  /** The slot of the key at `offset`, or the empty slot for it. */
  #slotOf(bytes: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1
    let slot = this.#hash(bytes, offset) & mask
    for (let known = this.#slots[slot] ?? -1; known !== -1; known = this.#slots[slot] ?? -1) {
      if (this.#isSame(known * this.width, bytes, offset)) break
      slot = (slot + 1) & mask
    }
    return slot
  }

  #hash(bytes: Uint8Array, offset: number): number {
    let hash = this.#seed
    for (let i = 0; i < this.width; i++) hash = Math.imul(hash ^ (bytes[offset + i] ?? 0), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    return hash ^ (hash >>> 13)
  }

  #isSame(at: number, bytes: Uint8Array, offset: number): boolean {
    for (let i = 0; i < this.width; i++) if (this.#keys[at + i] !== bytes[offset + i]) return false
    return true
  }

  #grow(): void {
    const keys = new Uint8Array(this.#keys.length * 2)
    keys.set(this.#keys)
    this.#keys = keys
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1)
    for (let i = 0; i < this.#count; i++) this.#slots[this.#slotOf(keys, i * this.width)] = i
  }
}
