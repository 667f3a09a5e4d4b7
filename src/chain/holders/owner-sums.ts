/** Adds up what each owner holds while accounts come in, and gives the owners sorted by address. */
import { MAX_U64 } from '../../solana/u64.ts'
import { KeyTable } from './key-table.ts'

/** One owner of tokens or assets. */
interface OwnerSum {
  /** The 32 bytes of the address, as a view. */
  owner: Uint8Array
  amount: bigint
  isFrozen: boolean
}

const RUN = 1_024
const FIRST_OWNERS = 1_024

export class OwnerSums {
  readonly #owners = new KeyTable(32)
  #amounts = new BigUint64Array(FIRST_OWNERS)
  #frozen = new Uint8Array(FIRST_OWNERS)
  total = 0n

  get count(): number {
    return this.#owners.count
  }

  /** Throws RangeError if the sum exceeds 64 bits, the most of any supply. */
  add(owner: Uint8Array, amount: bigint, isFrozen = false): void {
    this.total += amount
    if (this.total > MAX_U64) throw new RangeError('the balances are more than any supply')
    const { index } = this.#owners.add(owner)
    if (index === this.#amounts.length) {
      const [amounts, frozen] = [new BigUint64Array(index * 2), new Uint8Array(index * 2)]
      amounts.set(this.#amounts)
      frozen.set(this.#frozen)
      this.#amounts = amounts
      this.#frozen = frozen
    }
    this.#amounts[index] = (this.#amounts[index] ?? 0n) + amount
    if (isFrozen) this.#frozen[index] = 1
  }

  at(index: number): OwnerSum {
    return { owner: this.#owners.at(index), amount: this.#amounts[index] ?? 0n, isFrozen: this.#frozen[index] === 1 }
  }

  /** The numbers of all owners by their addresses, lowest first. Other requests get their turn while it sorts. */
  async sorted(nextTurn: () => Promise<void> | undefined): Promise<Uint32Array> {
    const { count } = this
    let order = Uint32Array.from({ length: count }, (_, i) => i)
    const compare = (a: number, b: number) => Buffer.compare(this.#owners.at(a), this.#owners.at(b))
    for (let at = 0; at < count; at += RUN) {
      order.subarray(at, at + RUN).sort(compare)
      await nextTurn()
    }
    let other = new Uint32Array(count)
    for (let width = RUN; width < count; width *= 2) {
      for (let from = 0; from < count; from += width * 2) {
        const [middle, end] = [Math.min(from + width, count), Math.min(from + width * 2, count)]
        let [left, right] = [from, middle]
        for (let to = from; to < end; to++) {
          const takesLeft = right >= end || (left < middle && compare(order[left] ?? 0, order[right] ?? 0) <= 0)
          other[to] = order[takesLeft ? left++ : right++] ?? 0
          if (to % RUN === 0) await nextTurn()
        }
      }
      ;[order, other] = [other, order]
    }
    return order
  }
}
