/** One claim of fees: built, previewed, signed by the user's keypair or the platform wallet, and followed. */
import type { FeeClaimCreated, FeeClaimKind } from '../../src/api/fee-claims.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { type Flat, flat } from '../signing/built-transactions.ts'
import { type buildFields, programsField, type SigningFlags } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { requireUnsigned, runAct, type Unsigned } from '../signing/run-act.ts'
import { claimDemand, type FeeClaimRequest } from './claim-demand.ts'

export type ClaimRunFlags = SigningFlags & {
  signed: boolean
  idempotency_key?: string | undefined
  allow_programs: boolean
  max_quote?: string | undefined
}

/** An unsigned claim: the estimated amount and its transaction. */
export async function prepareClaim(
  { client }: Session,
  claim: FeeClaimRequest,
  payer: string,
  fields: ReturnType<typeof buildFields> & ReturnType<typeof programsField> = {},
): Promise<Unsigned<Flat<FeeClaimCreated>>> {
  return requireUnsigned(flat(await client.feeClaims.create({ ...claimBody(claim), ...fields, payer }))).data
}

/** The fields of a request; those that are not given are left out, because older daemons do not know them. */
const claimBody = ({ address, kind, beneficiary, owner, position, splits }: FeeClaimRequest) => ({
  address,
  kind,
  ...(beneficiary === undefined ? {} : { beneficiary }),
  ...(owner === undefined ? {} : { owner }),
  ...(position === undefined ? {} : { position }),
  ...(splits === undefined ? {} : { splits: [...splits] }),
})

/** What a kind claims, after `the`. */
const CLAIMED: Readonly<Record<FeeClaimKind, string>> = {
  dbc: 'fees',
  damm_v2: 'fees',
  surplus: 'surplus',
  migration_fee: 'migration fee',
  leftover: 'leftover',
  pool_creation_fee: 'pool creation fee',
  vesting: 'vested tokens',
}

const claimQuestion = ({ address, kind, beneficiary, position, splits }: FeeClaimRequest) => {
  if (position !== undefined) return `Claim the fees of the position ${position}`
  const whose = beneficiary === 'creator' ? "creator's " : ''
  return `Claim the ${whose}${CLAIMED[kind]} of ${address}${splits === undefined ? '' : `, split ${splits.length} ways`}`
}

const SHOWN = [
  'pool_address',
  'kind',
  'beneficiary',
  'claimer',
  'delegate',
  'estimated_quote',
  'estimated_base',
  'estimated_lamports',
  'remaining_positions',
] as const

/** The fields that the answer has. */
const claimFields = (answer: Omit<FeeClaimCreated, 'tx'>): Record<string, unknown> =>
  Object.fromEntries(SHOWN.flatMap((name) => (answer[name] === undefined ? [] : [[name, answer[name]]])))

/** The amounts and each share of the quote, rounded down; the API distributes the remainder among some of them. */
function amountLines(
  data: Partial<ShownAmounts> & { remaining_positions?: number | undefined },
  { splits }: FeeClaimRequest,
): string[] {
  const amount = BigInt(data.estimated_quote ?? 0)
  const { remaining_positions = 0 } = data
  return [
    ...amountTexts(data).map((text) => previewLine('claims', text)),
    ...(splits ?? []).map(
      ({ recipient, bps }) => `    ${recipient}  ${bps / 100} %  ~${quoteText(data)((amount * BigInt(bps)) / 10_000n)}`,
    ),
    ...(remaining_positions === 0
      ? []
      : [previewLine('left', `${remaining_positions} smaller positions: claim again`)]),
  ]
}

/** Claims the fees, signed by the local keypair, which must be the partner's, or by the platform wallet. */
export function claimFees(session: Session, input: ClaimRunFlags, claim: FeeClaimRequest): Promise<CommandOutcome> {
  const request = { ...claimBody(claim), ...programsField(input) }
  return runAct<Flat<FeeClaimCreated>>(session, input, {
    what: claimQuestion(claim),
    call: async (body, options) => flat(await session.client.feeClaims.create({ ...request, ...body }, options)),
    demand: (of, data) => claimDemand(of, claim, data, input.max_quote),
    preview: (data) => amountLines(data, claim),
    show: claimFields,
    // Only the answer knows the decimals of the pool's mints.
    decimals: ({ quote_decimals, base_decimals }) => ({
      estimated_quote: quote_decimals,
      estimated_base: base_decimals,
      estimated_lamports: LAMPORT_DECIMALS,
    }),
  })
}

// The amounts of a claim as text, each in its own unit.

export type ShownAmounts = Pick<
  FeeClaimCreated,
  | 'estimated_quote'
  | 'estimated_base'
  | 'estimated_lamports'
  | 'quote_mint'
  | 'quote_decimals'
  | 'base_mint'
  | 'base_decimals'
>

/** Each amount that is not zero, with its unit; `0 SOL` if there is none. */
export function amountTexts(amounts: Partial<ShownAmounts>): string[] {
  const { estimated_quote = '0', estimated_base = '0', estimated_lamports = '0' } = amounts
  const texts = [
    { raw: BigInt(estimated_quote), text: quoteText(amounts) },
    { raw: BigInt(estimated_lamports), text: (raw: bigint) => `${solOf(raw)} SOL` },
    {
      raw: BigInt(estimated_base),
      text: (raw: bigint) => `${groupedDecimalOf(raw, amounts.base_decimals ?? 0)} of ${amounts.base_mint}`,
    },
  ].flatMap(({ raw, text }) => (raw === 0n ? [] : [text(raw)]))
  return texts.length === 0 ? ['0 SOL'] : texts
}

const quoteText =
  ({ quote_mint = WRAPPED_SOL, quote_decimals = LAMPORT_DECIMALS }: Partial<ShownAmounts>) =>
  (raw: bigint) =>
    quote_mint === WRAPPED_SOL ? `${solOf(raw)} SOL` : `${groupedDecimalOf(raw, quote_decimals)} of ${quote_mint}`
