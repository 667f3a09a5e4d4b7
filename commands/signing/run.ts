/**
 * Runs a command that signs: prepare, preview, confirm, sign, submit and follow, with the user's keypair or the
 * platform wallet.
 */
import type { Transaction } from '../../src/api/transactions.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'
import { type BuiltTransactions, transactionsOf } from './built-transactions.ts'
import { confirmOn, refuseOtherSigners, refuseUnconfirmable } from './confirm.ts'
import { type Demand, requireDemanded, type Signing, signingFor } from './demand.ts'
import type { SigningFlags } from './flags.ts'
import { withFreshBlockhash } from './fresh-blockhash.ts'
import { clusterState, lifetimeText } from './lifetime.ts'
import { type PlatformRequest, platformAddress, sendByPlatform } from './platform-wallet.ts'
import { checkedLines, runLines } from './preview.ts'
import { forecastOf, wouldFail } from './run-failures.ts'
import { dryRunOutcome, sentOutcome, unsignedOutcome } from './run-outcomes.ts'
import { hasRelay, sendAll } from './sending.ts'
import { type CompleteTransaction, signCompletely, signReturnedKeys } from './signatures.ts'
import { signingWallet } from './signing-wallet.ts'

export interface SignedRun<D extends BuiltTransactions> {
  /** What the run does, for a question: `Create the token MTK`. */
  what: string | ((data: D) => string)
  build(payer: string): Promise<{ data: D }>
  /** What the transactions must be (`demanding`); anything else is refused before the user is asked. */
  demand(of: Signing, data: D): Promise<Demand>
  /** Secret keys of the answer that also sign; each signs the transactions of which it is a signer. */
  secretKeys?(data: D): readonly (readonly number[])[]
  /** Lines shown before the changes, such as a quote or the recipients. */
  preview?(data: D): readonly string[]
  /** The first fields of the answer; `confirmed` is null if nothing was sent or the command did not wait. */
  show?(data: D, confirmed: readonly Transaction[] | null): Promise<Record<string, unknown>> | Record<string, unknown>
  /** The decimals of fields of `show` in raw units, which a terminal shows as whole tokens and SOL. */
  decimals?(data: D): Readonly<Record<string, number>>
  /** What the user can do if only some of several transactions are known to be confirmed. */
  recovery?(data: D): string
  /** The same request with `mode: signed`; only commands with the flag --signed have it. */
  platform?(payer: string): PlatformRequest
}

export type RunFlags = SigningFlags & {
  creator?: string | undefined
  authority?: string | undefined
  bundle?: boolean
  signed?: boolean
  idempotency_key?: string | undefined
}

/** Runs a command with the flags of `SIGNING`; its answer ends with the signatures and the lifecycle. */
export async function runSigned<D extends BuiltTransactions>(
  session: Session,
  flags: RunFlags,
  run: SignedRun<D>,
): Promise<CommandOutcome> {
  if (flags.dry_run && flags.build_only) throw usage('give either --dry-run or --build-only')
  const { platform } = run
  if (flags.signed && platform !== undefined) return runByPlatform(session, flags, { ...run, platform })
  const signer = await signingWallet(session, flags)
  if (!flags.dry_run && !flags.build_only) refuseUnconfirmable(session, await session.cluster())

  const { data } = await run.build(signer)
  const of = signingFor(session, signer, {
    isRead: flags.dry_run || session.ui.attended,
    cluster: await session.cluster(),
  })
  const demand = await run.demand(of, data)
  await requireDemanded(session, transactionsOf(data), demand)
  const partial = await signReturnedKeys(session, data, run.secretKeys?.(data))
  if (flags.build_only) {
    const lifetime = lifetimeText(data.last_valid_block_height, await clusterState(session))
    return unsignedOutcome(data, partial, { fields: await run.show?.(data, null), lifetime })
  }

  const bundle = isBundle(data, flags) && (flags.bundle === true || (await hasRelay(session)))
  const checked = checkedLines(demand, of.notes)
  const { what, lines, forecast } = await previewOf(session, run, data, { signer, bundle, checked })
  if (flags.dry_run) {
    const fields = 'transactions' in data ? await run.show?.(data, null) : {}
    return dryRunOutcome(data, forecast, lines, {
      fields,
      note: 'Nothing was signed with your keypair, and nothing was sent.',
    })
  }
  await session.ui.preview(lines)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  for (const { missing } of partial) refuseOtherSigners(missing, signer)
  const wasAsked = await confirmOn(session, what, forecast.cluster, { always: of.trusts })
  const agreed = wasAsked
    ? await signReturnedKeys(session, await withFreshBlockhash(session, data), run.secretKeys?.(data))
    : partial

  const fresh = agreed.map(({ transaction }) => transaction)
  const signed: CompleteTransaction[] = []
  for (const transaction of await requireDemanded(session, fresh, demand))
    signed.push(await signCompletely(session, transaction, flags))
  const recovery = run.recovery?.(data) ?? ''
  const confirmed = await sendAll(session, signed, { built: data, wait: flags.wait, bundle, recovery })
  const signatures = signed.map(({ signature }) => signature)
  return sentOutcome(await run.show?.(data, confirmed), confirmed?.at(-1), {
    signatures: 'transactions' in data ? { signatures } : { signature: signatures[0] },
    decimals: run.decimals?.(data),
  })
}

/** A launch of version 1 is one transaction, so it pays no relay. */
const isBundle = (data: BuiltTransactions, { tx_version }: RunFlags) => 'transactions' in data && tx_version !== '1'

/**
 * Runs with the platform wallet as signer. The preview is an unsigned build of the same request with that wallet as
 * payer.
 */
async function runByPlatform<D extends BuiltTransactions>(
  session: Session,
  flags: RunFlags,
  run: SignedRun<D> & Required<Pick<SignedRun<D>, 'platform'>>,
): Promise<CommandOutcome> {
  const payer = await platformAddress(session)
  const request = run.platform(payer)
  // A request of an earlier run under this key may be confirmed already; only the signed request returns its result.
  if (flags.idempotency_key !== undefined && !flags.dry_run) return sendByPlatform(session, flags, request)
  const { data } = await run.build(payer)
  const { lines, forecast } = await previewOf(session, run, data, { signer: payer, bundle: false, checked: [] })
  if (flags.dry_run) {
    return dryRunOutcome(data, forecast, lines, {
      fields: await run.show?.(data, null),
      note: 'Nothing was signed, and nothing was sent.',
    })
  }
  await session.ui.preview(lines)
  return sendByPlatform(session, flags, request, transactionsOf(data).at(-1))
}

/** Previews a run. Of several transactions, only the first can be simulated before any is sent. */
async function previewOf<D extends BuiltTransactions>(
  session: Session,
  run: SignedRun<D>,
  data: D,
  { signer, bundle, checked }: { signer: string; bundle: boolean; checked: readonly string[] },
) {
  const [first = '', ...later] = transactionsOf(data)
  const what = typeof run.what === 'string' ? run.what : run.what(data)
  const forecast = await forecastOf(session, first, signer)
  const contents = await Promise.all(later.map((transaction) => session.wallet.decode(transaction)))
  const preview = [...(run.preview?.(data) ?? []), ...checked]
  return { what, forecast, lines: runLines(what, forecast, { preview, later: contents, bundle }) }
}
