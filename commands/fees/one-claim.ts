/** One claim of fees: built, shown, signed by your keypair or the platform wallet, and waited for. */
import type { FeeClaimCreated, FeeClaimKind, Split } from '../../src/api/fee-claims.ts'
import { LAMPORT_DIGITS, solOf } from '../amounts.ts'
import type { Outcome, Session } from '../command.ts'
import { dryOf, type SigningFlags } from '../signing/flags.ts'
import { pair } from '../signing/preview.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { signByPlatform } from '../signing/sign-by-platform.ts'
import { failure } from '../ui/problem.ts'

export type OneClaimFlags = SigningFlags & { idempotency_key?: string | undefined }

export interface Wanted {
  address: string
  kind: FeeClaimKind
  splits: readonly Split[] | undefined
}
export type Prepared = Omit<FeeClaimCreated, 'tx'> & { transaction: string }

/** An unsigned claim: what it would take, and the transaction that does it. */
export async function prepare(
  { client }: Session,
  { splits, ...wanted }: Wanted,
  payer: string,
  dry: { dry_run?: true } = {},
): Promise<Prepared> {
  const body = { ...wanted, ...dry, payer, ...(splits === undefined ? {} : { splits: [...splits] }) }
  const { tx, ...data } = (await client.feeClaims.create(body)).data
  if (tx.mode === 'unsigned') return { ...data, transaction: tx.transaction }
  throw failure('the API answered with a signed claim, though none was asked for', {
    next: `\`svc tx status ${tx.signature}\``,
  })
}

export const whatOf = ({ address, kind, splits }: Wanted) =>
  `Claim the ${kind === 'surplus' ? 'surplus' : 'fees'} of ${address}${splits === undefined ? '' : `, split ${splits.length} ways`}`

const shownOf = ({ pool_address, kind, estimated_quote }: Omit<FeeClaimCreated, 'tx'>) => ({
  pool_address,
  kind,
  ...(estimated_quote === undefined ? {} : { estimated_quote }),
})

/** The amount, and each share of it rounded down: the API gives what that leaves to some of them. */
function amountLines({ estimated_quote }: { estimated_quote?: string | undefined }, { splits }: Wanted): string[] {
  if (estimated_quote === undefined) return []
  const amount = BigInt(estimated_quote)
  return [
    pair('claims', `${solOf(amount)} SOL`),
    ...(splits ?? []).map(
      ({ recipient, bps }) => `    ${recipient}  ${bps / 100} %  ~${solOf((amount * BigInt(bps)) / 10_000n)} SOL`,
    ),
  ]
}

/** Signed by the local keypair, which must be the partner. */
export function claimHere(session: Session, input: OneClaimFlags, wanted: Wanted): Promise<Outcome> {
  return signAndSubmit<Prepared>(session, input, {
    what: whatOf(wanted),
    build: async (payer) => ({ data: await prepare(session, wanted, payer, dryOf(input)) }),
    preview: (data) => amountLines(data, wanted),
    show: shownOf,
    decimals: () => ({ estimated_quote: LAMPORT_DIGITS }),
  })
}

/** Shown by an unsigned build of the same claim, then signed by the platform wallet. */
export function claimSigned(session: Session, input: OneClaimFlags, wanted: Wanted): Promise<Outcome> {
  const { splits, ...body } = wanted
  return signByPlatform<Prepared>(session, input, {
    what: whatOf(wanted),
    // Only the signed request is to leave something.
    build: (payer) => prepare(session, wanted, payer, { dry_run: true }),
    async sign(payer, options) {
      const { data } = await session.client.feeClaims.create(
        { ...body, payer, mode: 'signed', ...(splits === undefined ? {} : { splits: [...splits] }) },
        options,
      )
      if (data.tx.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
      return { signature: data.tx.signature, shown: shownOf(data) }
    },
    preview: (data) => amountLines(data, wanted),
    show: shownOf,
    decimals: { estimated_quote: LAMPORT_DIGITS },
  })
}
