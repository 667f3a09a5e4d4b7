/** One command that the platform wallet signs: shown by an unsigned build of the same, asked for, signed once, waited for. */
import { inWhole } from '../amounts.ts'
import type { Outcome, Session } from '../command.ts'
import { EXIT } from '../ui/problem.ts'
import { platformAddress, signedOnce } from './by-platform.ts'
import type { Wait } from './flags.ts'
import { follow } from './following.ts'
import { failureLines, previewLines } from './preview.ts'
import { confirmOn, didFail, failedAs, faultOf } from './sign-and-submit.ts'

export interface PlatformFlags {
  dry_run: boolean
  wait?: Wait | undefined
  idempotency_key?: string | undefined
}

export interface PlatformCommand<D extends { transaction: string }> {
  /** What it does, as the start of a question. */
  what: string
  /** Unsigned, for the platform wallet as payer. */
  build(payer: string): Promise<D>
  /** The same with `mode: signed`. */
  sign(
    payer: string,
    options: { idempotencyKey: string },
  ): Promise<{ signature: string; shown: Record<string, unknown> }>
  /** Shown before what a run would change. */
  preview?(data: D): readonly string[]
  /** Fields that the answer of a dry run starts with. */
  show(data: D): Record<string, unknown>
  /** Decimals of the fields of `shown` that are raw units: a person reads those as whole tokens. */
  decimals?: Readonly<Record<string, number>>
}

export async function signByPlatform<D extends { transaction: string }>(
  session: Session,
  flags: PlatformFlags,
  command: PlatformCommand<D>,
): Promise<Outcome> {
  const payer = await platformAddress(session)
  // What an earlier run began may have landed since: only the signed route still knows it.
  if (flags.idempotency_key !== undefined && !flags.dry_run) return signed(session, flags, command, { payer })
  const built = await command.build(payer)
  const content = await session.wallet.decode(built.transaction)
  const { data: simulation } = await session.client.transactions.simulate({ transaction: built.transaction })
  const cluster = await session.cluster()
  const [first = '', ...rest] = previewLines(command.what, { cluster, signer: payer, content, simulation })
  const fault = await faultOf(session, built.transaction, simulation)
  const said = fault === null ? [] : failureLines(simulation, fault)
  const lines = [first, ...(command.preview?.(built) ?? []), ...rest, ...said]
  if (flags.dry_run) {
    return {
      data: { ...command.show(built), cluster, signer: payer, ...simulation },
      text: lines.join('\n'),
      notes: ['Nothing was signed, and nothing was sent.'],
      exitCode: fault === null ? EXIT.done : EXIT.failed,
    }
  }
  await session.ui.preview(lines)
  return signed(session, flags, command, { payer, transaction: built.transaction })
}

async function signed<D extends { transaction: string }>(
  session: Session,
  flags: PlatformFlags,
  command: PlatformCommand<D>,
  { payer, transaction }: { payer: string; transaction?: string },
): Promise<Outcome> {
  await confirmOn(session, command.what, await session.cluster())
  const { signature, shown } = await signedOnce(session, flags.idempotency_key ?? crypto.randomUUID(), (options) =>
    command.sign(payer, options),
  )
  const answer = (data: Record<string, unknown>): Outcome => ({ data, record: inWhole(data, command.decimals ?? {}) })
  if (flags.wait === 'none') return answer({ ...shown, signature, lifecycle: 'submitted' })
  const landed = await follow(session, signature, flags.wait ?? 'confirmed')
  if (landed.lifecycle === 'failed') {
    if (transaction !== undefined) throw await didFail(session, transaction, landed)
    throw failedAs(landed)
  }
  return answer({ ...shown, signature, lifecycle: landed.lifecycle, slot: landed.slot })
}
