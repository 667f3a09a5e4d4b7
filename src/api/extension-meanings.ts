/** Says in plain words what the extensions of a new token mean for those who buy it. */
import { groupedDecimalOf } from '../solana/amounts.ts'
import { MAX_U64 } from '../solana/u64.ts'
import type { TokenExtensions } from './extension-fields.ts'

/** Basis points as percent: 125 is `1.25 %`. */
export const percentText = (basisPoints: number): string => `${basisPoints / 100} %`

/**
 * Returns a sentence for each extension, in a fixed order. `who` is the holder of the authorities, as the reader calls
 * them; `decimals` are those of the token.
 */
export function extensionMeanings(
  extensions: TokenExtensions | undefined,
  { who, decimals }: { who: 'you' | 'the payer'; decimals: number },
): string[] {
  if (extensions === undefined) return []
  const { transfer_fee: fee, interest_rate: interest, scaled_amount: scaled, transfer_hook: hook } = extensions
  const most =
    fee === undefined || BigInt(fee.maximum_fee) === MAX_U64
      ? ''
      : `, at most ${groupedDecimalOf(BigInt(fee.maximum_fee), decimals)} tokens`
  const meanings: [chosen: unknown, meaning: string][] = [
    [
      fee,
      `transfer fee: every transfer keeps ${percentText(fee?.basis_points ?? 0)} of what is sent${most}, so buyers pay it when they buy and when they sell; ${who} can change it`,
    ],
    [
      interest,
      `interest rate: wallets show amounts that change by ${percentText(interest?.basis_points ?? 0)} a year, but nothing is minted; ${who} can change the rate`,
    ],
    [
      scaled,
      `scaled amount: wallets show ${scaled?.multiplier ?? ''} times the real amount, and prices count the real one; ${who} can change the number`,
    ],
    [extensions.non_transferable, 'non-transferable: holders can only burn it; nobody can sell, send or pool it'],
    [
      extensions.default_frozen,
      `default frozen: buyers cannot send or sell what they receive until ${who} thawed their token account`,
    ],
    [
      extensions.permanent_delegate,
      `permanent delegate: ${extensions.permanent_delegate ?? ''} can take or burn the tokens of every holder at any time`,
    ],
    [extensions.pausable, `pausable: ${who} can stop all transfers, purchases and sales`],
    [
      hook,
      `transfer hook: every transfer calls the program ${hook?.program ?? ''}, which can refuse it; most pools and exchanges do not accept such a token`,
    ],
    [extensions.closable, `closable: ${who} can close the mint at a supply of 0, and make another one at its address`],
  ]
  return meanings.flatMap(([chosen, meaning]) => (chosen ? [meaning] : []))
}
