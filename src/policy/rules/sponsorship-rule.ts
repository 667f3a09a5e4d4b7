/** The rule about sponsored claims: exactly fee and rent leave the wallet, and only the claim's own accounts gain. */

import { solText, tokenText } from '../../solana/amounts.ts'
import type { Destination, Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'
import type { PolicyCheckOptions, SponsoredOutflow, Violation } from './violation.ts'

export function checkSponsorship(
  { fee, lamports_out, tokens_out, destinations }: Movement,
  _: SigningPolicy,
  __: Spent,
  { sponsored }: PolicyCheckOptions,
): Violation | null {
  if (sponsored === undefined) return null
  const expected = fee + sponsored.lent + sponsored.accountRent
  if (lamports_out !== expected) {
    const message = `${solText(lamports_out)} would leave for the claim of ${sponsored.claimer}, but its fee and rent are ${solText(expected)}; build it again`
    return { message, details: { asked: String(lamports_out), expected: String(expected) } }
  }
  const [token] = tokens_out
  if (token !== undefined) {
    const message = `${token.amount} units of ${token.mint} would leave, but only the airdrop pays the tokens of a sponsored claim`
    return { message, details: { mint: token.mint, asked: String(token.amount) } }
  }
  const stranger = destinations.find((each) => !isOfClaim(each, sponsored))
  if (stranger === undefined) return null
  const { address, mint, amount } = stranger
  const message = `${address} would receive ${tokenText(mint, amount)}, but is not part of the claim of ${sponsored.claimer}`
  return { message, details: { address, mint, amount: String(amount) } }
}

function isOfClaim({ address, mint, amount }: Destination, sponsored: SponsoredOutflow): boolean {
  const { claimer, lent, account, accountRent, status } = sponsored
  if (address === account) return mint === sponsored.mint || (mint === null && amount === accountRent)
  if (mint !== null) return false
  return address === status || (address === claimer && amount === lent)
}
