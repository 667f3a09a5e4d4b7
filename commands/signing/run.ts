/**
 * Runs a command that signs: prepare, preview, confirm, sign, submit and follow, with the user's keypair or the
 * platform wallet.
 */
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { type BuiltTransactions, transactionsOf } from './built-transactions.ts'
import { confirmOn, refuseOtherSigners, refuseUnconfirmable } from './confirm.ts'
import { costLines, costParts } from './cost-parts.ts'
import { requireDemanded, requireShownGuards, signingFor } from './demand.ts'
import { sendFromDevice } from './device.ts'
import { withFreshBlockhash } from './fresh-blockhash.ts'
import { forecastFunds, requireFunds, totalLines } from './funds.ts'
import { clusterState, lifetimeText, printedLifetime } from './lifetime.ts'
import { platformAddress, sendByPlatform } from './platform-wallet.ts'
import { checkedLines, runLines } from './preview.ts'
import { simulateBuild, wouldFail } from './run-failures.ts'
import { dryRunOutcome, sentOutcome, unsignedOutcome, withNext } from './run-outcomes.ts'
import { hasRelay, type SentRun, sendAll } from './sending.ts'
import { signReturnedKeys, signSeries } from './signatures.ts'
import type { AgreedBuild, RunFlags, SignedRun } from './signed-run.ts'
import { signingWallet } from './signing-wallet.ts'
import type { SignedTransaction } from './wallet.ts'

/** Runs a command with the flags of `SIGNING`; its answer ends with the signatures and the lifecycle. */
export async function runSigned<D extends BuiltTransactions>(
  session: Session,
  flags: RunFlags,
  run: SignedRun<D>,
): Promise<CommandOutcome> {
  const { platform } = run
  if (flags.squads !== undefined) {
    const { proposeRun } = await import('./propose.ts')
    return proposeRun(session, flags, run, flags.squads)
  }
  if (flags.signed && platform !== undefined) return runByPlatform(session, flags, { ...run, platform })
  const signer = await signingWallet(session, flags)
  if (!flags.dry_run && !flags.build_only) await refuseUnconfirmable(session, await session.cluster())

  const phone = flags.qr === undefined ? null : await import('./phone.ts')
  const payment = phone && (await phone.buildForPhone(session, flags.qr ?? '', signer, () => run.build(signer)))
  const { data } = payment ?? (await run.build(signer))
  const of = signingFor(session, signer, {
    guard: flags.guard,
    isRead: flags.dry_run || session.ui.attended,
    cluster: await session.cluster(),
  })
  const own = await run.demand(of, data)
  const demand = phone === null ? own : phone.withReference(own)
  await requireDemanded(session, transactionsOf(data), demand)
  const shown = { signer, checked: checkedLines(demand, of.notes), guarded: demand.guarded }
  if (phone !== null && payment !== null) {
    const { lines, forecast } = await showBuild(session, run, data, { ...shown, bundle: false })
    await session.ui.preview(lines)
    if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
    return phone.payByPhone(session, flags, payment.request)
  }
  const partial = await signReturnedKeys(session, data, run.secretKeys?.(data))
  if (flags.build_only) {
    const [lastValid, state] = [data.last_valid_block_height, await clusterState(session)]
    const printed = printedLifetime(lastValid, state, session.clock.now())
    const lifetime = lifetimeText(lastValid, state)
    return unsignedOutcome(data, partial, { fields: await run.show?.(data, null), lifetime, printed })
  }

  const bundle = isBundle(data, flags) && (flags.bundle === true || (await hasRelay(session)))
  const { what, lines, forecast, funds } = await showBuild(session, run, data, { ...shown, bundle })
  if (flags.dry_run) {
    const fields = 'transactions' in data ? await run.show?.(data, null) : {}
    return dryRunOutcome(data, forecast, lines, {
      fields,
      funds,
      note: 'Nothing was signed with your keypair, and nothing was sent.',
    })
  }
  await session.ui.preview(lines)
  if (funds !== null) requireFunds(funds, forecast.cluster)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  for (const { missing } of partial) refuseOtherSigners(missing, signer)
  const wasAsked = await confirmOn(session, what, forecast.cluster, { always: of.trusts })
  const { signatures, confirmed } = await sendAgreed(session, flags, run, { data, partial, demand, bundle, wasAsked })
  const outcome = sentOutcome(await run.show?.(data, confirmed), confirmed?.at(-1), {
    signatures: 'transactions' in data ? { signatures } : { signature: signatures[0] },
    decimals: run.decimals?.(data),
  })
  return withNext(outcome, run.next)
}

/** Signs and sends what the user has agreed to, with a fresh blockhash if a person was asked or is asked by a device. */
async function sendAgreed<D extends BuiltTransactions>(
  session: Session,
  flags: RunFlags,
  run: SignedRun<D>,
  agreed: Pick<AgreedBuild<D>, 'data' | 'demand' | 'bundle'> & {
    partial: readonly SignedTransaction[]
    wasAsked: boolean
  },
): Promise<SentRun> {
  const { data, demand, bundle, wasAsked } = agreed
  const secretKeys = run.secretKeys?.(data)
  const isDevice = await session.wallet.isDevice(flags.keypair)
  if (isDevice && run.send === undefined) {
    const recovery = run.recovery?.(data) ?? ''
    return sendFromDevice(session, flags, { built: data, secretKeys, demand, bundle, recovery })
  }
  const needsFresh = wasAsked || isDevice
  const fresh = needsFresh ? await withFreshBlockhash(session, data) : data
  const partial = needsFresh ? await signReturnedKeys(session, fresh, secretKeys) : agreed.partial
  const built = { ...fresh, transactions: partial.map(({ transaction }) => transaction) }
  const send = run.send ?? ((build) => signAndSend(session, flags, run, build))
  return send({ data, unsigned: fresh, built, demand, bundle })
}

async function signAndSend<D extends BuiltTransactions>(
  session: Session,
  flags: RunFlags,
  run: SignedRun<D>,
  { data, built, demand, bundle }: AgreedBuild<D>,
): Promise<SentRun> {
  const checked = await requireDemanded(session, built.transactions, demand)
  const signed = await signSeries(session, checked, { keypair: flags.keypair })
  const recovery = run.recovery?.(data) ?? ''
  const confirmed = await sendAll(session, signed, { built: data, wait: flags.wait, bundle, recovery })
  return { signatures: signed.map(({ signature }) => signature), confirmed }
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
  const send = async (transaction?: string) =>
    withNext(await sendByPlatform(session, flags, request, transaction), run.next)
  if (flags.idempotency_key !== undefined && !flags.dry_run) return send()
  const { data } = await run.build(payer)
  const { lines, forecast, funds } = await showBuild(session, run, data, {
    signer: payer,
    bundle: false,
    checked: [],
    guarded: null,
  })
  if (flags.dry_run) {
    return dryRunOutcome(data, forecast, lines, {
      fields: await run.show?.(data, null),
      funds,
      note: 'Nothing was signed, and nothing was sent.',
    })
  }
  await session.ui.preview(lines)
  return send(transactionsOf(data).at(-1))
}

/**
 * Previews a run. Of several transactions, a node can simulate only the first before any is sent; `funds` has what all
 * of them cost, and is null if the changes of a single one show it.
 */
async function showBuild<D extends BuiltTransactions>(
  session: Session,
  run: SignedRun<D>,
  data: D,
  {
    signer,
    bundle,
    checked,
    guarded,
  }: { signer: string; bundle: boolean; checked: readonly string[]; guarded: string | null },
) {
  const transactions = transactionsOf(data)
  const [first = '', ...later] = transactions
  const what = typeof run.what === 'string' ? run.what : run.what(data)
  const [forecast, state] = await Promise.all([
    simulateBuild(session, first, signer, data.guard),
    run.showsTotal ? clusterState(session) : null,
  ])
  await requireShownGuards(session, first, { guarded }, forecast)
  const contents = await Promise.all(later.map((transaction) => session.wallet.decode(transaction)))
  const opened = run.opened?.(data)
  const cost = opened === undefined ? [] : costLines(costParts(forecast, opened))
  const preview = [...(run.preview?.(data) ?? []), ...checked, ...cost]
  const all = [...transactions, ...(run.follows?.(data) ?? [])]
  const funds = all.length > 1 || run.showsTotal ? await forecastFunds(session, all) : null
  const total = funds === null ? [] : totalLines(funds, signer)
  return {
    what,
    forecast,
    funds,
    lines: runLines(what, forecast, { preview, later: contents, bundle, total, state, names: run.names?.(data) }),
  }
}
