/** Several transactions of one command, each in need of the one before it: shown, asked for and signed at once, then sent. */
import type { Transaction } from '../../src/api/transactions.ts'
import { ApiError } from '../../src/errors.ts'
import { keyToBase58 } from '../../src/merkle/base58.ts'
import { type Outcome, type Session, sessionWith } from '../command.ts'
import { EXIT, failure, usage } from '../ui/problem.ts'
import type { SigningFlags } from './flags.ts'
import { follow } from './following.ts'
import { failureLines, pair, previewLines } from './preview.ts'
import {
  confirmOn,
  didFail,
  faultOf,
  refuseOthers,
  refuseUnasked,
  type TrackedResource,
  wouldFail,
} from './sign-and-submit.ts'
import { submitSigned } from './submitting.ts'

export interface BuiltSeveral {
  /** In the order in which they must land. */
  transactions: readonly string[]
  tracked_resource?: TrackedResource | undefined
}
export interface SeveralCommand<D extends BuiltSeveral> {
  /** As the start of a question: `Launch MTK`. */
  what: string
  build(payer: string): Promise<{ data: D }>
  /** Keys of the answer that sign too, each where it is a signer; empty ones are left out. */
  secretKeys(data: D): readonly (readonly number[])[]
  /** What to do where it is not known, or not so, that all have landed. */
  goOn(data: D): string
  /** Fields that the answer starts with; `landed` is null where nothing was sent or waited for. */
  show(data: D, landed: readonly Transaction[] | null): Promise<Record<string, unknown>> | Record<string, unknown>
}
export type SeveralFlags = SigningFlags & { bundle: boolean }

interface Signed {
  transaction: string
  signature: string
}

/** Runs such a command; what is tracked goes with the last transaction, or with the bundle. */
export async function signAndSubmitSeveral<D extends BuiltSeveral>(
  session: Session,
  flags: SeveralFlags,
  command: SeveralCommand<D>,
): Promise<Outcome> {
  const { ui, wallet } = session
  if (flags.dry_run && flags.build_only) throw usage('give either --dry-run or --build-only')
  const signer = await wallet.address(flags.keypair)
  if (!flags.dry_run && !flags.build_only) refuseUnasked(session, await session.cluster())

  const { data } = await command.build(signer)
  const partial = await Promise.all(
    data.transactions.map((one) => signReturned(session, one, command.secretKeys(data))),
  )
  if (flags.build_only) return builtOutcome(data, partial, await command.show(data, null))

  const bundle = flags.bundle || (await hasRelay(session))
  const { lines, foreseen, fault } = await previewed(session, command, { data, signer, bundle })
  const said = fault === null ? [] : failureLines(foreseen.simulation, fault)
  if (flags.dry_run) {
    const { cluster, simulation } = foreseen
    return {
      data: {
        ...(await command.show(data, null)),
        cluster,
        signer,
        transactions: data.transactions.length,
        ...simulation,
      },
      text: [...lines, ...said].join('\n'),
      notes: ['Nothing was signed with your keypair, and nothing was sent.'],
      exitCode: fault === null ? EXIT.done : EXIT.failed,
    }
  }
  await ui.preview([...lines, ...said])
  if (fault !== null) throw wouldFail(fault, foreseen)
  for (const { missing } of partial) refuseOthers(missing, signer)
  await confirmOn(session, command.what, foreseen.cluster)

  const signed: Signed[] = []
  for (const { transaction } of partial) {
    const { signature, missing, ...rest } = await wallet.sign(transaction, { keypair: flags.keypair })
    if (signature === null || missing.length > 0) throw failure(`not signed by ${missing.join(', ')}`)
    signed.push({ transaction: rest.transaction, signature })
  }
  const landed = await (bundle ? sendBundle : sendInTurn)(session, flags, { data, signed, goOn: command.goOn(data) })
  const signatures = signed.map(({ signature }) => signature)
  const last = landed?.at(-1)
  const end = last === undefined ? { lifecycle: 'submitted' } : { lifecycle: last.lifecycle, slot: last.slot }
  return { data: { ...(await command.show(data, landed)), signatures, ...end } }
}

/** The settings of a daemon elsewhere are not known here: `--bundle` says it then. */
async function hasRelay({ settings }: Session): Promise<boolean> {
  const rows = await settings.list()
  const isSet = (wanted: string) => (rows.find(({ name }) => name === wanted)?.value ?? null) !== null
  return isSet('relay-url') && !isSet('api')
}

async function signReturned({ wallet }: Session, transaction: string, keys: readonly (readonly number[])[]) {
  const { signers } = await wallet.decode(transaction)
  const addresses = signers.map(({ address }) => address)
  // A secret key ends with its public key.
  const secretKeys = keys.filter(
    (key) => key.length === 64 && addresses.includes(keyToBase58(Uint8Array.from(key), 32)),
  )
  return wallet.sign(transaction, { secretKeys, own: false })
}

/** Only the first can be run beforehand. */
async function previewed<D extends BuiltSeveral>(
  session: Session,
  { what }: SeveralCommand<D>,
  { data, signer, bundle }: { data: D; signer: string; bundle: boolean },
) {
  const [first = '', ...later] = data.transactions
  const content = await session.wallet.decode(first)
  const { data: simulation } = await session.client.transactions.simulate({ transaction: first })
  const foreseen = { cluster: await session.cluster(), signer, content, simulation }
  const lines = previewLines(what, foreseen)
  const count = data.transactions.length
  if (count > 1) {
    const how = bundle
      ? 'as a bundle: all land in one slot, or none'
      : 'one after another, each confirmed before the next'
    const at = lines.findIndex((line) => line.startsWith(pair('programs', '')))
    lines.splice(at, 0, pair('sends', `${count} transactions, ${how}`), pair('first', ''))
    for (const [i, one] of later.entries()) {
      const { instructions } = await session.wallet.decode(one)
      const programs = [...new Set(instructions.map(({ name, program }) => name ?? program))]
      lines.push(
        pair(i === 0 ? 'then' : '', ''),
        pair('programs', programs.join(', ')),
        pair('changes', 'cannot be told before the one before it has landed'),
      )
    }
  }
  return { lines, foreseen, fault: await faultOf(session, first, simulation) }
}

interface Sending {
  data: BuiltSeveral
  signed: readonly Signed[]
  goOn: string
}

async function sendBundle(session: Session, { wait = 'confirmed' }: SeveralFlags, { data, signed, goOn }: Sending) {
  await submitSigned(session, signed[0]!.signature, {
    bundle: true,
    signed_transactions: signed.map(({ transaction }) => transaction),
    ...trackedOf(data),
  })
  if (wait === 'none') return null
  const landed: Transaction[] = []
  for (const [i, { signature, transaction }] of signed.entries()) {
    const one = await follow(session, signature, wait)
    if (one.lifecycle === 'failed') {
      const { message } = await didFail(session, transaction, one)
      throw failure(`transaction ${i + 1} of the bundle of ${signed.length}: ${message}`, {
        next: goOn,
        details: { signatures: signed.map(({ signature }) => signature), err: one.err },
      })
    }
    landed.push(one)
  }
  return landed
}

async function sendInTurn(session: Session, { wait = 'confirmed' }: SeveralFlags, { data, signed, goOn }: Sending) {
  const landed: Transaction[] = []
  for (const [i, { signature, transaction }] of signed.entries()) {
    const isLast = i === signed.length - 1
    try {
      const telling = isLast ? session : withLastWords(session, `transaction ${i + 1} of ${signed.length}: ${goOn}`)
      await submitSigned(telling, signature, { transaction, ...(isLast ? trackedOf(data) : {}) })
      if (isLast && wait === 'none') return null
      const one = await follow(telling, signature, isLast && wait !== 'none' ? wait : 'confirmed')
      if (one.lifecycle === 'failed') throw await didFail(session, transaction, one)
      landed.push(one)
    } catch (error) {
      if (!(error instanceof ApiError) || signed.length === 1) throw error
      throw stopped(error, i, { signed, goOn })
    }
  }
  return landed
}

/** Ctrl-C between two of them leaves the rest unsent. */
const withLastWords = (session: Session, more: string): Session =>
  sessionWith(session, {
    lastWords: (text) => session.lastWords(text === null ? null : `${text}\n${more}`),
  })

/** Says what has landed: that much was paid for, and cannot be taken back. */
function stopped(error: ApiError, at: number, { signed, goOn }: Omit<Sending, 'data'>) {
  const before = signed.slice(0, at).map(({ signature }) => signature)
  const past = before.length === 0 ? 'none before it' : `landed before it: ${before.join(', ')}`
  return failure(`transaction ${at + 1} of ${signed.length}: ${error.message} (${past})`, {
    next: goOn,
    details: { ...error.details, landed: before, signature: signed[at]!.signature },
    cause: error,
  })
}

const trackedOf = ({ tracked_resource }: BuiltSeveral) => (tracked_resource === undefined ? {} : { tracked_resource })

/** With the signatures of returned keys in place. One alone is printed as every other build is. */
function builtOutcome(
  data: BuiltSeveral,
  partial: readonly { transaction: string; signed: readonly string[]; missing: readonly string[] }[],
  shown: Record<string, unknown>,
): Outcome {
  const transactions = partial.map(({ transaction }) => transaction)
  const missing = [...new Set(partial.flatMap(({ missing }) => missing))]
  const signed_by = [...new Set(partial.flatMap(({ signed }) => signed))]
  const one = transactions.length === 1 ? { transaction: transactions[0] } : {}
  return {
    data: { ...shown, ...one, transactions, signed_by, missing_signers: missing, ...trackedOf(data) },
    rows: { columns: ['transaction'], rows: transactions.map((transaction) => [transaction]) },
    text: transactions.join('\n'),
    notes: [
      `Must still be signed by ${missing.join(', ')}: svc tx sign for each, then svc tx submit${transactions.length > 1 ? ' in this order, each confirmed before the next, or --bundle' : ''}; the blockhash lasts about a minute.`,
    ],
  }
}
