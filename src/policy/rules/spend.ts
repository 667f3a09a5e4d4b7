/** Computes the part of a movement that counts as spent, in lamports and tokens by mint. */
import type { Movement, TokenAmount } from '../movement/movement.ts'

interface Spend {
  lamports: bigint
  tokens: TokenAmount[]
}

/**
 * Returns the amounts that count against the limits of a transaction and a day. If another account pays, the gains of
 * others do not count.
 */
export function spendOf(movement: Movement): Spend {
  const { lamports_out, lamports_to_others, tokens_out, tokens_to_others } = movement
  if (movement.fee_payer !== movement.wallet) {
    return { lamports: lamports_out, tokens: tokens_out.map((each) => ({ ...each })) }
  }
  const amounts = new Map<string, bigint>()
  for (const { mint, amount } of [...tokens_out, ...tokens_to_others]) {
    if (amount > (amounts.get(mint) ?? 0n)) amounts.set(mint, amount)
  }
  return {
    lamports: lamports_out > lamports_to_others ? lamports_out : lamports_to_others,
    tokens: [...amounts].map(([mint, amount]) => ({ mint, amount })),
  }
}
