/** Sums of lamports and tokens by mint; wrapped SOL counts as lamports. */
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import type { TokenAmount } from './movement.ts'

/** Amounts by mint. The mint is null for lamports. */
export class AmountsByMint {
  readonly #amounts = new Map<string, bigint>()

  add(mint: string | null, amount: bigint): void {
    const key = mint ?? WRAPPED_SOL
    this.#amounts.set(key, (this.#amounts.get(key) ?? 0n) + amount)
  }

  of(mint: string | null): bigint {
    return this.#amounts.get(mint ?? WRAPPED_SOL) ?? 0n
  }

  /** The mints in the order in which they were first added. Lamports are listed under the mint of wrapped SOL. */
  mints(): string[] {
    return [...this.#amounts.keys()]
  }

  /** Returns the larger amount of each mint. */
  larger(other: AmountsByMint): AmountsByMint {
    const sums = new AmountsByMint()
    for (const key of new Set([...this.mints(), ...other.mints()])) {
      const [a, b] = [this.of(key), other.of(key)]
      sums.add(key, a > b ? a : b)
    }
    return sums
  }

  /** Returns the lamports, at least 0. */
  lamports(): bigint {
    const amount = this.of(null)
    return amount > 0n ? amount : 0n
  }

  /** Returns the token amounts above zero. */
  tokens(): TokenAmount[] {
    return [...this.#amounts].flatMap(([mint, amount]) =>
      mint === WRAPPED_SOL || amount <= 0n ? [] : { mint, amount },
    )
  }
}
