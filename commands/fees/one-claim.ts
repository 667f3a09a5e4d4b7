/** One claim of fees: built, shown, signed by your keypair or the platform wallet, and waited for. */
import type { FeeClaimCreated, FeeClaimKind, Split } from '../../src/api/fee-claims.ts'
import { solOf } from '../amounts.ts'
import type { Outcome, Session } from '../command.ts'
import { platformAddress, signedOnce } from '../signing/by-platform.ts'
import type { SigningFlags } from '../signing/flags.ts'
import { follow } from '../signing/following.ts'
import { failureLines, pair, previewLines } from '../signing/preview.ts'
import { confirmOn, didFail, faultOf, signAndSubmit } from '../signing/sign-and-submit.ts'
import { EXIT, failure } from '../ui/problem.ts'

export type OneClaimFlags = SigningFlags & { idempotency_key?: string | undefined }

export interface Wanted {
  address: string
  kind: FeeClaimKind
  splits: readonly Split[] | undefined
}
export type Prepared = Omit<FeeClaimCreated, 'tx'> & { transaction: string }

/** An unsigned claim: what it would take, and the transaction that does it. */
export async function prepare({ client }: Session, { splits, ...wanted }: Wanted, payer: string): Promise<Prepared> {
  const body = { ...wanted, payer, ...(splits === undefined ? {} : { splits: [...splits] }) }
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
    build: async (payer) => ({ data: await prepare(session, wanted, payer) }),
    preview: (data) => amountLines(data, wanted),
    show: shownOf,
  })
}

/** Shown by an unsigned build of the same claim, then signed by the platform wallet. */
export async function claimSigned(session: Session, input: OneClaimFlags, wanted: Wanted): Promise<Outcome> {
  const payer = await platformAddress(session)
  const built = await prepare(session, wanted, payer)
  const content = await session.wallet.decode(built.transaction)
  const { data: simulation } = await session.client.transactions.simulate({ transaction: built.transaction })
  const cluster = await session.cluster()
  const [first = '', ...rest] = previewLines(whatOf(wanted), { cluster, signer: payer, content, simulation })
  const fault = await faultOf(session, built.transaction, simulation)
  const said = fault === null ? [] : failureLines(simulation, fault)
  const lines = [first, ...amountLines(built, wanted), ...rest, ...said]
  if (input.dry_run) {
    return {
      data: { ...shownOf(built), cluster, signer: payer, ...simulation },
      text: lines.join('\n'),
      notes: ['Nothing was signed, and nothing was sent.'],
      exitCode: fault === null ? EXIT.done : EXIT.failed,
    }
  }
  await session.ui.preview(lines)
  await confirmOn(session, whatOf(wanted), cluster)
  const { splits, ...body } = wanted
  const { data } = await signedOnce(session, input.idempotency_key ?? crypto.randomUUID(), (options) =>
    session.client.feeClaims.create(
      { ...body, payer, mode: 'signed', ...(splits === undefined ? {} : { splits: [...splits] }) },
      options,
    ),
  )
  if (data.tx.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
  const { signature } = data.tx
  if (input.wait === 'none') return { data: { ...shownOf(data), signature, lifecycle: 'submitted' } }
  const landed = await follow(session, signature, input.wait ?? 'confirmed')
  if (landed.lifecycle === 'failed') throw await didFail(session, built.transaction, landed)
  return { data: { ...shownOf(data), signature, lifecycle: landed.lifecycle, slot: landed.slot } }
}
