/** Runs an act that your keypair, a vault or the platform wallet signs. */
import { paths } from '../../src/api/paths.ts'
import type { Client } from '../../src/client.ts'
import type { FieldUnits } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { failure } from '../ui/problem.ts'
import type { BuiltTransactions } from './built-transactions.ts'
import { buildFields, IDEMPOTENCY_KEY, SIGNING, type SigningFlags, signedFlag, termsField } from './flags.ts'
import { runSigned } from './run.ts'
import type { RunFlags, SignedRun } from './signed-run.ts'

/** The flags of an act that the platform wallet may sign too. */
export const ACT_SIGNING = {
  signed: signedFlag('The platform wallet signs, instead of your keypair'),
  idempotency_key: IDEMPOTENCY_KEY,
  ...SIGNING,
}
const { simulate, submit, get } = paths.transactions
/** What each act calls besides its own route. */
export const ACT_CALLS = [simulate, submit, get, paths.signer.get]

export type ActFlags = SigningFlags & { signed: boolean; idempotency_key?: string | undefined }

/** The fields that every request of an act has, besides its own. */
type ActBody = { payer: string; mode?: 'signed' } & ReturnType<typeof buildFields>
export type CallOptions = Parameters<Client['tokens']['transferAuthority']>[1]

export type ActAnswer = (BuiltTransactions & { mode: 'unsigned' }) | { mode: 'signed'; signature: string }
export type Unsigned<D> = Extract<D, { mode: 'unsigned' }>

/** The answer, which is unsigned; throws a failure for one that nobody asked for. */
export function requireUnsigned<D extends { mode: string; signature?: string }>({
  data,
}: {
  data: D
}): { data: Unsigned<D> } {
  if (data.mode === 'unsigned') return { data: data as Unsigned<D> }
  throw failure('the API answered with a signed transaction, but none was requested', {
    ...(data.signature === undefined ? {} : { next: `\`svc tx get ${data.signature}\`` }),
  })
}

/** The answer of the platform wallet. */
export function signedAnswer<D extends { mode: string }>({ data }: { data: D }): Extract<D, { mode: 'signed' }> {
  if (data.mode === 'signed') return data as Extract<D, { mode: 'signed' }>
  throw failure('the API answered without a signature: it did not sign')
}

export interface Act<D extends ActAnswer> {
  /** What it does, for a question. */
  what: string
  call(body: ActBody, options?: CallOptions): Promise<{ data: D }>
  demand: SignedRun<Unsigned<D>>['demand']
  preview(data: Unsigned<D>): readonly string[]
  /** Keys that also sign, beside the keypair. */
  secretKeys?(): readonly (readonly number[])[]
  show(data: D): Record<string, unknown>
  /** Decimals of the fields of `show` in raw units. */
  decimals?: FieldUnits | ((data: D) => FieldUnits)
}

export function runAct<D extends ActAnswer>(
  session: Session,
  flags: ActFlags & RunFlags,
  act: Act<D>,
): Promise<CommandOutcome> {
  return runSigned<Unsigned<D>>(session, flags, signedActOf(flags, act))
}

/** Requests the unsigned transaction. */
export const unsignedActOf =
  <D extends ActAnswer>(flags: ActFlags, { call }: Act<D>, { dry_run = flags.dry_run } = {}) =>
  async (payer: string): Promise<{ data: Unsigned<D> }> =>
    requireUnsigned(await call({ payer, ...buildFields({ ...flags, dry_run: flags.signed || dry_run }) }))

export function signedActOf<D extends ActAnswer>(
  flags: ActFlags,
  act: Act<D>,
): SignedRun<Unsigned<D>> & { what: string } {
  const { what, call, demand, preview, secretKeys, show, decimals } = act
  const decimalsOf = (data: D): FieldUnits => (typeof decimals === 'function' ? decimals(data) : (decimals ?? {}))
  return {
    what,
    build: unsignedActOf(flags, act),
    demand,
    preview,
    ...(secretKeys === undefined ? {} : { secretKeys }),
    show,
    decimals: decimalsOf,
    platform: (payer) => ({
      what,
      async sign(options) {
        const data = signedAnswer(await call({ payer, ...termsField(flags), mode: 'signed' }, options))
        return { signature: data.signature, show: () => show(data), decimals: decimalsOf(data) }
      },
    }),
  }
}
