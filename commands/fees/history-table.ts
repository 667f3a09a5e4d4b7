/** The table of `svc fees list`: what each claim has paid, in SOL, and who got what. */
import type { FeeClaim } from '../../src/api/fee-claims.ts'
import { solText } from '../../src/solana/amounts.ts'
import { solCell } from '../cli/amounts.ts'
import type { Rows } from '../cli/command.ts'

type PaidAmounts = Pick<FeeClaim, 'sol' | 'quote' | 'base'>

/**
 * A quote in SOL is shown only as SOL; other quotes and the pool's token are raw units. Until a claim is final its
 * amounts are unknown; an older daemon never knows them.
 */
export function historyTable(claims: readonly FeeClaim[]): Rows {
  return {
    columns: ['occurred_at', 'kind', 'party', 'sol', 'other_units', 'received', 'pool_address', 'signature'],
    rows: claims.map((claim) => [
      claim.occurred_at,
      claim.kind,
      claim.beneficiary,
      claim.sol ? solCell(claim.sol) : claim.sol === null ? 'not final yet' : null,
      unitsOf(claim),
      claim.received?.map(receiptText).join(', ') || null,
      claim.pool_address,
      claim.signature,
    ]),
  }
}

function unitsOf({ sol, quote, base }: PaidAmounts): string | null {
  const isOther = sol === '0' && (quote ?? '0') !== '0'
  const parts = [
    ...(isOther ? [`${quote} of the quote`] : []),
    ...((base ?? '0') === '0' ? [] : [`${base} of the token`]),
  ]
  return parts.length === 0 ? null : parts.join(', ')
}

const receiptText = ({ wallet, token, amount }: NonNullable<FeeClaim['received']>[number]): string =>
  token === 'SOL' ? `${wallet} ${solText(amount)}` : `${wallet} ${amount} of ${token}`
