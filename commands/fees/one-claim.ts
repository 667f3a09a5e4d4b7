/** One claim of fees: built, previewed, signed by the user's keypair or the platform wallet, and followed. */
import type { FeeClaimCreated, FeeClaimKind } from '../../src/api/fee-claims.ts'
import { LAMPORT_DECIMALS } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { buildFields, programsField, type SigningFlags, txVersionField } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import { failure } from '../ui/problem.ts'
import { amountTexts, quoteText, type ShownAmounts } from './amounts.ts'
import { claimDemand, type FeeClaimRequest } from './claim-demand.ts'

export type ClaimRunFlags = SigningFlags & {
  signed: boolean
  idempotency_key?: string | undefined
  allow_programs: boolean
  max_quote?: string | undefined
}

export type PreparedClaim = Omit<FeeClaimCreated, 'tx'> & { transaction: string; last_valid_block_height: number }

/** An unsigned claim: the estimated amount and its transaction. */
export async function prepareClaim(
  { client }: Session,
  { splits, ...claim }: FeeClaimRequest,
  payer: string,
  fields: ReturnType<typeof buildFields> & ReturnType<typeof programsField> = {},
): Promise<PreparedClaim> {
  const body = { ...claimBody(claim), ...fields, payer, ...(splits === undefined ? {} : { splits: [...splits] }) }
  const { tx, ...data } = (await client.feeClaims.create(body)).data
  if (tx.mode === 'unsigned') {
    return { ...data, transaction: tx.transaction, last_valid_block_height: tx.last_valid_block_height }
  }
  throw failure('the API answered with a signed claim, but none was requested', {
    next: `\`svc tx get ${tx.signature}\``,
  })
}

/** The fields of a request; those that are not given are left out, because older daemons do not know them. */
const claimBody = ({ address, kind, beneficiary, owner, position }: Omit<FeeClaimRequest, 'splits'>) => ({
  address,
  kind,
  ...(beneficiary === undefined ? {} : { beneficiary }),
  ...(owner === undefined ? {} : { owner }),
  ...(position === undefined ? {} : { position }),
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
  const { splits, ...body } = claim
  const decimals = { estimated_quote: LAMPORT_DECIMALS, estimated_base: 0, estimated_lamports: LAMPORT_DECIMALS }
  /** Only the answer knows the decimals of the pool's mints. */
  const shown = (data: Omit<FeeClaimCreated, 'tx'>) => {
    Object.assign(decimals, { estimated_quote: data.quote_decimals, estimated_base: data.base_decimals })
    return claimFields(data)
  }
  return runSigned<PreparedClaim>(session, input, {
    what: claimQuestion(claim),
    async build(payer) {
      // If the platform wallet signs, this build is only a preview, so nothing of it may be stored.
      const fields = {
        ...buildFields({ ...input, dry_run: input.signed || input.dry_run }),
        ...programsField(input),
      }
      return { data: await prepareClaim(session, claim, payer, fields) }
    },
    demand: (of, data) => claimDemand(of, claim, data, input.max_quote),
    preview: (data) => amountLines(data, claim),
    show: shown,
    decimals: () => decimals,
    platform: (payer) => ({
      what: claimQuestion(claim),
      async sign(options) {
        const { data } = await session.client.feeClaims.create(
          {
            ...claimBody(body),
            ...txVersionField(input),
            ...programsField(input),
            payer,
            mode: 'signed',
            ...(splits === undefined ? {} : { splits: [...splits] }),
          },
          options,
        )
        if (data.tx.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
        return { signature: data.tx.signature, show: () => shown(data) }
      },
      decimals,
    }),
  })
}
