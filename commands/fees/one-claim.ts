/** One claim of fees: built, previewed, signed by the user's keypair or the platform wallet, and followed. */
import type { FeeClaimCreated, FeeClaimKind, Split } from '../../src/api/fee-claims.ts'
import { LAMPORT_DECIMALS, solOf } from '../amounts.ts'
import type { CommandOutcome } from '../command.ts'
import type { Session } from '../session.ts'
import { buildFields, type SigningFlags, txVersionField } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import { failure } from '../ui/problem.ts'

export type ClaimRunFlags = SigningFlags & { signed: boolean; idempotency_key?: string | undefined }

export interface FeeClaimRequest {
  address: string
  kind: FeeClaimKind
  splits: readonly Split[] | undefined
}
export type PreparedClaim = Omit<FeeClaimCreated, 'tx'> & { transaction: string; last_valid_block_height: number }

/** An unsigned claim: the estimated amount and its transaction. */
export async function prepareClaim(
  { client }: Session,
  { splits, ...claim }: FeeClaimRequest,
  payer: string,
  fields: ReturnType<typeof buildFields> = {},
): Promise<PreparedClaim> {
  const body = { ...claim, ...fields, payer, ...(splits === undefined ? {} : { splits: [...splits] }) }
  const { tx, ...data } = (await client.feeClaims.create(body)).data
  if (tx.mode === 'unsigned') {
    return { ...data, transaction: tx.transaction, last_valid_block_height: tx.last_valid_block_height }
  }
  throw failure('the API answered with a signed claim, though none was asked for', {
    next: `\`svc tx status ${tx.signature}\``,
  })
}

const claimQuestion = ({ address, kind, splits }: FeeClaimRequest) =>
  `Claim the ${kind === 'surplus' ? 'surplus' : 'fees'} of ${address}${splits === undefined ? '' : `, split ${splits.length} ways`}`

const claimFields = ({ pool_address, kind, estimated_quote }: Omit<FeeClaimCreated, 'tx'>) => ({
  pool_address,
  kind,
  ...(estimated_quote === undefined ? {} : { estimated_quote }),
})

/** The amount and each share of it, rounded down; the API distributes the remainder among some of them. */
function amountLines(
  { estimated_quote }: { estimated_quote?: string | undefined },
  { splits }: FeeClaimRequest,
): string[] {
  if (estimated_quote === undefined) return []
  const amount = BigInt(estimated_quote)
  return [
    previewLine('claims', `${solOf(amount)} SOL`),
    ...(splits ?? []).map(
      ({ recipient, bps }) => `    ${recipient}  ${bps / 100} %  ~${solOf((amount * BigInt(bps)) / 10_000n)} SOL`,
    ),
  ]
}

/** Claims the fees, signed by the local keypair, which must be the partner's, or by the platform wallet. */
export function claimFees(session: Session, input: ClaimRunFlags, claim: FeeClaimRequest): Promise<CommandOutcome> {
  const { splits, ...body } = claim
  const decimals = { estimated_quote: LAMPORT_DECIMALS }
  return runSigned<PreparedClaim>(session, input, {
    what: claimQuestion(claim),
    async build(payer) {
      // Where the platform wallet signs, this build is only previewed, so nothing of it may be stored.
      const fields = buildFields({ ...input, dry_run: input.signed || input.dry_run })
      return { data: await prepareClaim(session, claim, payer, fields) }
    },
    preview: (data) => amountLines(data, claim),
    show: claimFields,
    decimals: () => decimals,
    platform: (payer) => ({
      what: claimQuestion(claim),
      async sign(options) {
        const { data } = await session.client.feeClaims.create(
          {
            ...body,
            ...txVersionField(input),
            payer,
            mode: 'signed',
            ...(splits === undefined ? {} : { splits: [...splits] }),
          },
          options,
        )
        if (data.tx.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
        return { signature: data.tx.signature, show: () => claimFields(data) }
      },
      decimals,
    }),
  })
}
