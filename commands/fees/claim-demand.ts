/** What the transaction of a claim must be, which takes what a pool owes to its partner, creator or owner, and splits it. */
import type { Beneficiary, FeeClaimCreated, FeeClaimKind, Split } from '../../src/api/fee-claims.ts'
import { bytesOfHex } from '../../src/solana/bytes.ts'
import { POSITIONS_PER_CLAIM } from '../../src/solana/constants.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { JUPITER_LOCK } from '../../src/solana/programs/jupiter-lock.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { rawUnits } from '../cli/amounts.ts'
import {
  type Call,
  closes,
  type Demand,
  demanding,
  opens,
  pays,
  type Signing,
  TOKEN_PROGRAMS,
  unexpectedBuild,
  type Wanted,
} from '../signing/demand.ts'
import { usage } from '../ui/problem.ts'

export interface FeeClaimRequest {
  address: string
  kind: FeeClaimKind
  beneficiary?: Beneficiary | undefined
  owner?: string | undefined
  /** Only this position, with kind `damm_v2`. */
  position?: string | undefined
  splits: readonly Split[] | undefined
}
type ClaimAnswer = Omit<FeeClaimCreated, 'tx'>

/**
 * What the transaction of a claim must be. The fees of a migrated pool are claimed from the pool that it became. A
 * wallet that signs as delegate may own positions too, so only the user says whom the claim pays.
 */
export async function claimDemand(
  of: Signing,
  request: FeeClaimRequest,
  data: ClaimAnswer,
  most: string | undefined = undefined,
): Promise<Demand> {
  const { owner } = request
  if (data.delegate !== undefined && owner === undefined) {
    throw usage(`the API says that this claim is paid to ${data.claimer}, whose delegate signs; nothing was signed`, {
      param: '--owner',
      next: `give --owner ${data.claimer}, if these are the fees that you mean`,
    })
  }
  if (owner !== undefined && data.claimer !== owner) throw unexpectedBuild(`it pays ${data.claimer}, not ${owner}`)
  return demandsFeeClaim(of, { request, data, most: most === undefined ? null : rawUnits(most, 0, '--max-quote') })
}

/** A claim as it was requested, and what only the answer knows: whom it pays, the mints, and how much is claimed. */
interface Claim {
  request: FeeClaimRequest
  data: ClaimAnswer
  /** The most raw units that a split may divide if the quote is not SOL; null if not given. */
  most: bigint | null
}

const demandsFeeClaim = demanding(
  'this claim, into accounts of the wallet that it pays, and these shares',
  async (of, claim: Claim): Promise<Call[]> => {
    const { request, data, most } = claim
    const { splits = [] } = request
    const { claimer, base_mint: baseMint, quote_mint: quoteMint } = data
    const amount = claimed(data)
    const [base, quote] = [await of.accounts(baseMint, claimer), await of.accounts(quoteMint, claimer)]
    const recipients = splits.map(({ recipient }) => recipient)
    const isSplit = splits.length > 0
    const isSol = quoteMint === WRAPPED_SOL
    if (isSplit && !isSol) {
      if (most === null) of.apiSays(`${amount} raw units of ${quoteMint} are claimed and divided`, '--max-quote')
      else if (amount > most) throw unexpectedBuild(`it divides ${amount} raw units, more than --max-quote`)
    }
    // The wrapped account is emptied first, so that only the claim pays the shares.
    const emptied: Call = { ...closes(claimer, quote), least: 1 }
    const taken: Call = isSplit && isSol ? { ...takes(claim, base, quote), after: emptied } : takes(claim, base, quote)
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
        least: request.kind === 'dbc' && amount > 0n ? 1 : 0,
        after: taken,
      },
      closes(claimer, [...base, ...quote], { to: [claimer, of.payer], most: 3 }),
      ...(await Promise.all(splits.map((split) => pay(of, data, split, quote)))),
    ]
  },
)

/** Claimed raw units of the quote, as in the preview. */
const claimed = ({ estimated_quote }: ClaimAnswer) => BigInt(estimated_quote ?? 0)

const take = (call: string, fields: Call['fields'], program: string = PROGRAMS.dbc.id): Call => ({
  program,
  call,
  fields,
})

function takes({ request, data }: Claim, base: Wanted, quote: Wanted): Call {
  const { address, kind, position } = request
  const { beneficiary, claimer, delegate = claimer, base_mint: baseMint } = data
  const amount = claimed(data)
  const pool = kind === 'damm_v2' ? data.pool_address : address
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
async function pay({ accounts }: Signing, data: ClaimAnswer, { recipient, bps }: Split, own: Wanted): Promise<Call> {
  const { claimer, quote_mint: quoteMint } = data
  const least = (claimed(data) * BigInt(bps)) / 10_000n
  const share = [String(least), String(least + 1n)]
  if (quoteMint === WRAPPED_SOL) return pays(claimer, recipient, share)
  const destination = await accounts(quoteMint, recipient)
  const fields = { source: own, mint: quoteMint, destination, authority: claimer, amount: share }
  return { program: TOKEN_PROGRAMS, call: 'transferChecked', fields }
}

/** A claim of a lock without accounts of a transfer hook. */
export const isPlainLockClaim = (hex: string): boolean =>
  JUPITER_LOCK.argsOf('claim_v2', bytesOfHex(hex))?.remaining_accounts_info === null
