/** Token amounts in the format of JSON-RPC. */

interface UiTokenAmount {
  amount: string
  decimals: number
  uiAmount: number | null
  uiAmountString: string
}

/**
 * Formats an amount. `uiAmount` is for display only; it is converted from the exact decimal text and never used in
 * calculations.
 */
export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
  const digits = amount.toString()
  const padded = digits.padStart(decimals + 1, '0')
  const whole = padded.slice(0, padded.length - decimals)
  const fraction = padded.slice(padded.length - decimals).replace(/0+$/, '')
  const text = fraction ? `${whole}.${fraction}` : whole
  return { amount: digits, decimals, uiAmount: Number(text), uiAmountString: text }
}
