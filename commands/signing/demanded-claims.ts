/** Lists the calls that claim what a pool owes to its partner, its creator or the owner of a position, and split it. */

import type { Beneficiary, FeeClaimKind, Split } from '../../src/api/fee-claims.ts'
import { POSITIONS_PER_CLAIM } from '../../src/solana/constants.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type Call, closes, opens, pays, type Signing, TOKEN_PROGRAMS, unexpectedBuild, type Wanted } from './demand.ts'
import { isPlainLockClaim } from './demanded-assets.ts'

export interface AskedClaim {
  pool: string
  kind: FeeClaimKind
  beneficiary: Beneficiary
  /** The wallet that the claim pays. It signs, except for a leftover and a pool creation fee. */
  claimer: string
  /** The wallet that signs for the claimer, as the delegate of its positions. */
  delegate?: string | undefined
  /** The one position that is claimed; without it, any of the claimer. */
  position?: string | undefined
  baseMint: string
  quoteMint: string
  /** Claimed raw units of the quote, as in the preview. */
  amount: bigint
  splits: readonly Split[]
  /** The most raw units that a split may divide if the quote is not SOL; null if not given. */
  mostQuote: bigint | null
}

export async function claimsFees(of: Signing, asked: AskedClaim): Promise<Call[]> {
  const { claimer, baseMint, quoteMint, amount, splits, mostQuote } = asked
  const [base, quote] = [await of.accounts(baseMint, claimer), await of.accounts(quoteMint, claimer)]
  const recipients = splits.map(({ recipient }) => recipient)
  const isSplit = splits.length > 0
  const isSol = quoteMint === WRAPPED_SOL
  if (isSplit && !isSol) {
    if (mostQuote === null) of.apiSays(`${amount} raw units of ${quoteMint} are claimed and divided`, '--max-quote')
    else if (amount > mostQuote) throw unexpectedBuild(`it divides ${amount} raw units, more than --max-quote`)
  }
  // The wrapped account is emptied first, so that only the claim pays the shares.
  const emptied: Call = { ...closes(claimer, quote), least: 1 }
  const taken: Call = isSplit && isSol ? { ...takes(asked, base, quote), after: emptied } : takes(asked, base, quote)
  return [
    // A wrapped account is emptied first, so it is opened twice.
    opens([of.payer, claimer], [claimer, ...recipients], [baseMint, quoteMint], 3 + recipients.length),
    ...(isSplit && isSol ? [emptied] : []),
    taken,
    // A transfer to itself asserts that the whole amount was there.
    {
      program: TOKEN_PROGRAMS,
      call: 'transfer',
      fields: { source: quote, destination: quote, authority: claimer, amount: (units) => BigInt(units) >= amount },
      least: asked.kind === 'dbc' && amount > 0n ? 1 : 0,
      after: taken,
    },
    closes(claimer, [...base, ...quote], { to: [claimer, of.payer], most: 3 }),
    ...(await Promise.all(splits.map((split) => pay(of, asked, split, quote)))),
  ]
}

const take = (call: string, fields: Call['fields'], program: string = PROGRAMS.dbc.id): Call => ({
  program,
  call,
  fields,
})

function takes(
  { pool, kind, beneficiary, claimer, delegate = claimer, position, amount, baseMint }: AskedClaim,
  base: Wanted,
  quote: Wanted,
): Call {
  const isCreator = beneficiary === 'creator'
  const quoteAccount = { virtual_pool: pool, token_quote_account: quote }
  const accounts = { pool, token_a_account: base, token_b_account: quote }
  switch (kind) {
    case 'dbc':
      return isCreator
        ? take('claim_creator_trading_fee', { ...accounts, creator: claimer, max_quote_amount: amount })
        : take('claim_trading_fee', { ...accounts, fee_claimer: claimer, max_amount_b: amount })
    case 'surplus':
      return isCreator
        ? take('creator_withdraw_surplus', { ...quoteAccount, creator: claimer })
        : take('partner_withdraw_surplus', { ...quoteAccount, fee_claimer: claimer })
    case 'migration_fee':
      return take('withdraw_migration_fee', { ...quoteAccount, sender: claimer })
    case 'leftover':
      return take('withdraw_leftover', { virtual_pool: pool, token_base_account: base, leftover_receiver: claimer })
    case 'pool_creation_fee':
      return take('claim_partner_pool_creation_fee', { pool, fee_claimer: claimer, fee_receiver: claimer })
    case 'vesting':
      return {
        ...take('claim_v2', { token_mint: baseMint, recipient: claimer, recipient_token: base }, PROGRAMS.lock.id),
        data: isPlainLockClaim,
      }
    case 'damm_v2':
      return {
        ...take(
          'claim_position_fee',
          { ...accounts, signer: delegate, ...(position === undefined ? {} : { position }) },
          PROGRAMS.dammV2.id,
        ),
        most: position === undefined ? POSITIONS_PER_CLAIM.own : 1,
      }
  }
}

/** A share is rounded down, and may get one of the remaining units. */
async function pay({ accounts }: Signing, asked: AskedClaim, { recipient, bps }: Split, own: Wanted): Promise<Call> {
  const { claimer, amount, quoteMint } = asked
  const least = (amount * BigInt(bps)) / 10_000n
  const share = [String(least), String(least + 1n)]
  if (quoteMint === WRAPPED_SOL) return pays(claimer, recipient, share)
  const destination = await accounts(quoteMint, recipient)
  const fields = { source: own, mint: quoteMint, destination, authority: claimer, amount: share }
  return { program: TOKEN_PROGRAMS, call: 'transferChecked', fields }
}
