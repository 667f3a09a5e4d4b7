/** One signed command: build, show what it would do, ask, sign here, submit, wait. */
import type { Simulation, TokenCreated, Transaction } from '../../src/api/index.ts'
import { inWhole } from '../amounts.ts'
import type { Outcome, Session } from '../command.ts'
import { EXIT, failure, usage } from '../ui/problem.ts'
import type { SigningFlags } from './flags.ts'
import { follow } from './following.ts'
import { failureLines, previewLines } from './preview.ts'
import { submitSigned } from './submitting.ts'
import type { Explanation, TransactionContent } from './wallet.ts'

export type TrackedResource = NonNullable<TokenCreated['tracked_resource']>

/** What every build answers. */
export interface Built {
  transaction: string
  tracked_resource?: TrackedResource | undefined
}
export interface SignedCommand<D extends Built> {
  /** What it does, as the start of a question: `Create the token MTK`. */
  what: string | ((data: D) => string)
  build(payer: string): Promise<{ data: D }>
  /** Keys of the answer that sign too. */
  secretKeys?(data: D): readonly (readonly number[])[]
  /** Shown before what a run would change: a quote, or who gets what. */
  preview?(data: D): readonly string[]
  /** Fields that the answer starts with; `landed` is null where nothing was sent or waited for. */
  show?(data: D, landed: Transaction | null): Promise<Record<string, unknown>> | Record<string, unknown>
  /** Decimals of those fields of `show` that are raw units: a person reads whole tokens and SOL. */
  decimals?(data: D): Readonly<Record<string, number>>
}

/** Where a mistake costs nothing: nobody is asked. */
const FREE: readonly (string | null)[] = ['embedded', 'devnet', 'testnet', 'localhost']

/** Runs a signed command with the flags of `SIGNING`; the answer ends with signature and lifecycle. */
export async function signAndSubmit<D extends Built>(
  session: Session,
  flags: SigningFlags,
  command: SignedCommand<D>,
): Promise<Outcome> {
  const { ui, wallet, client } = session
  if (flags.dry_run && flags.build_only) throw usage('give either --dry-run or --build-only')
  const sends = !flags.dry_run && !flags.build_only
  const signer = await wallet.address(flags.keypair)
  if (sends) refuseUnasked(session, await session.cluster())

  const { data } = await command.build(signer)
  const what = typeof command.what === 'string' ? command.what : command.what(data)
  const secretKeys = command.secretKeys?.(data)
  const partial = await wallet.sign(data.transaction, { secretKeys, own: false })
  if (flags.build_only) return builtOutcome(data, partial, await command.show?.(data, null))

  const content = await wallet.decode(data.transaction)
  const { data: simulation } = await client.transactions.simulate({ transaction: data.transaction })
  const cluster = await session.cluster()
  const [first = '', ...rest] = previewLines(what, { cluster, signer, content, simulation })
  const lines = [first, ...(command.preview?.(data) ?? []), ...rest]
  const fault = await faultOf(session, data.transaction, simulation)
  if (flags.dry_run) {
    const said = fault === null ? [] : failureLines(simulation, fault)
    return {
      data: { cluster, signer, ...simulation },
      text: [...lines, ...said].join('\n'),
      notes: ['Nothing was signed with your keypair, and nothing was sent.'],
      exitCode: fault === null ? EXIT.done : EXIT.failed,
    }
  }
  await ui.preview([...lines, ...(fault === null ? [] : failureLines(simulation, fault))])
  if (fault !== null) throw wouldFail(fault, { cluster, signer, content, simulation })
  refuseOthers(partial.missing, signer)
  await confirmOn(session, what, cluster)

  const signed = await wallet.sign(partial.transaction, { keypair: flags.keypair })
  const signature = signed.signature
  if (signature === null || signed.missing.length > 0) throw failure(`not signed by ${signed.missing.join(', ')}`)
  await submitSigned(session, signature, {
    transaction: signed.transaction,
    ...(data.tracked_resource === undefined ? {} : { tracked_resource: data.tracked_resource }),
  })
  const answer = (fields: Record<string, unknown>): Outcome => ({
    data: fields,
    record: inWhole(fields, command.decimals?.(data) ?? {}),
  })
  if (flags.wait === 'none') {
    return answer({ ...(await command.show?.(data, null)), signature, lifecycle: 'submitted' })
  }
  const landed = await follow(session, signature, flags.wait ?? 'confirmed')
  if (landed.lifecycle === 'failed') throw await didFail(session, data.transaction, landed)
  const { lifecycle, slot } = landed
  return answer({ ...(await command.show?.(data, landed)), signature, lifecycle, slot })
}

/** Asks on mainnet, and on any cluster that is not known to be free; without a terminal `--yes` must have been given. */
export async function confirmOn(session: Session, what: string, cluster: string | null): Promise<void> {
  if (FREE.includes(cluster)) return
  refuseUnasked(session, cluster)
  await session.ui.confirm(`${what} on ${cluster ?? 'the cluster of the API'}?`)
}

/** Before anything is asked of the API, and again when it is known who answers. */
export function refuseUnasked({ ui }: Session, cluster: string | null): void {
  if (FREE.includes(cluster) || ui.confirmable) return
  throw usage(`this would be sent to ${cluster ?? 'a cluster that only the API knows'}`, {
    param: '--yes',
    next: 'without a terminal, confirm it with --yes; --dry-run shows what it would do',
  })
}

export function refuseOthers(missing: readonly string[], signer: string): void {
  const others = missing.filter((address) => address !== signer)
  if (others.length === 0) return
  throw usage(`${others.join(', ')} must sign this too`, {
    next: 'use --build-only, then `svc tx sign` with each keypair, then `svc tx submit`',
  })
}

/** With the signatures of returned keys in place, so that nothing secret has to be printed. */
function builtOutcome(
  data: Built,
  partial: { transaction: string; signed: readonly string[]; missing: readonly string[] },
  shown: Record<string, unknown> = {},
): Outcome {
  const { transaction, signed, missing } = partial
  const tracked = data.tracked_resource === undefined ? {} : { tracked_resource: data.tracked_resource }
  const answer = { ...shown, transaction, signed_by: signed, missing_signers: missing, ...tracked }
  return {
    data: answer,
    rows: { columns: ['transaction'], rows: [[transaction]] },
    text: transaction,
    notes: [
      `Must still be signed by ${missing.join(', ')}: svc tx sign, then svc tx submit; its blockhash lasts about a minute.`,
    ],
  }
}

export async function faultOf({ wallet }: Session, transaction: string, { err, logs }: Simulation) {
  return err === null || err === undefined ? null : wallet.explain(transaction, err, logs)
}

/** What a lack of SOL looks like, whichever program says it. */
const POOR = /AccountNotFound|InsufficientFunds|insufficient (lamports|funds)/

export interface Foreseen {
  cluster: string | null
  signer: string
  content: TransactionContent
  simulation: Simulation
}

/** What stops a command whose run failed beforehand. */
export function wouldFail(fault: Explanation, { cluster, signer, simulation }: Foreseen) {
  const { err, logs } = simulation
  const poor = POOR.test(`${JSON.stringify(err)} ${logs.join(' ')}`)
  const money = cluster === 'embedded' ? `\`svc localnet airdrop ${signer} 10\`` : `send SOL to ${signer}`
  return failure(`it would fail, so nothing was sent: ${sentence(fault)}`, {
    next: poor ? `give the signer SOL: ${money}` : (fault.hint ?? '--dry-run shows the run again'),
    details: { err, logs: logs.slice(-20) },
  })
}

/** The failure of a transaction that has landed, or no longer can. */
export async function didFail({ wallet }: Session, transaction: string, { signature, err }: Transaction) {
  const fault = await wallet.explain(transaction, err, null)
  return failure(`${signature} failed: ${sentence(fault)}`, {
    next: fault.hint ?? `\`svc tx status ${signature}\` shows its error`,
    details: { signature, err },
  })
}

/** The same of one whose bytes are not at hand. */
export const failedAs = ({ signature, err }: Pick<Transaction, 'signature' | 'err'>) =>
  failure(`${signature} failed: ${JSON.stringify(err)}`, {
    next: `\`svc tx status ${signature}\` shows its error`,
    details: { signature, err },
  })

const sentence = ({ program, message }: Explanation) => (program === null ? message : `${program}: ${message}`)
