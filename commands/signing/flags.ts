/** Declares the flags of every command that signs. */
import {
  type CommandInput,
  type CommandInputs,
  choiceOf,
  type InputValues,
  text,
  toggle,
  type Verb,
} from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import type { ActingVault } from './wallet.ts'

export const KEYPAIR = text(
  'Keypair file, wallet or usb://ledger that signs (default: the setting keypair, or the file of the Solana CLI)',
  {
    placeholder: 'FILE|NAME',
    short: 'k',
  },
)
export const WAITS = ['none', 'confirmed', 'finalized'] as const
export type Wait = (typeof WAITS)[number]

export const WAIT = choiceOf(WAITS, 'Wait until it is confirmed (default) or finalized, or none')

export const TX_VERSION = choiceOf(['0', '1'], 'Version of the transaction: 0 (the default), or 1, which has more room')

export const GUARDS = ['required', 'when-it-fits', 'off'] as const
/** What `--guard` means, and the rule of the platform wallet. */
export const GUARD_MEANINGS = {
  required: 'refuse what cannot be guarded',
  'when-it-fits': 'as many as fit (default)',
}
export const GUARD = choiceOf(
  GUARDS,
  'Guards fail the transaction on chain if it would take more from you than was shown',
  GUARD_MEANINGS,
)

/** The terms of a transaction that the chain sees; every command that signs has them. */
export interface TermsFlags {
  tx_version?: '0' | '1' | undefined
  guard?: (typeof GUARDS)[number] | undefined
}

export const SIGN_UNSEEN = toggle(
  'With a list: sign again what an earlier run signed and no node has shown; it may have landed, and then happens twice',
  { needs: ['from'] },
)

export const WALLET_ADDRESS = { placeholder: 'ADDRESS' }
export const ALLOW_PROGRAMS = toggle("Allow program addresses, such as a multisig's vault")
export const ALLOW_LIST_PROGRAMS = toggle(
  'Allow entries of the list that are not wallets: vaults, token accounts, programs',
)
/** The `allow_programs` field of a request; omitted like `tx_version`. */
export const programsField = ({ allow_programs }: { allow_programs: boolean }): { allow_programs?: true } =>
  allow_programs ? { allow_programs: true } : {}
/** A wallet whose key is on another machine or a device, or is a multisig. */
const PAYER = text('Wallet that pays and signs elsewhere, instead of your keypair; with --build-only', WALLET_ADDRESS)

/** Flags that `svc help signing` explains once for all commands. */
const inTopic = <I extends CommandInputs>(flags: I): I =>
  Object.fromEntries(Object.entries(flags).map(([key, flag]) => [key, { ...flag, topic: 'signing' }])) as I

const OWN_KEY = inTopic({
  keypair: KEYPAIR,
  payer: PAYER,
  tx_version: TX_VERSION,
  guard: GUARD,
  dry_run: toggle('Stop after the simulation: nothing is signed, sent or stored', {
    conflicts: ['qr', 'build_only'],
  }),
  force: toggle('Build it even if svc refuses it because the program has changed; only your own wallet signs'),
  build_only: toggle('Print the unsigned transaction and who must sign it'),
  wait: WAIT,
})
/** Before the command runs, `withVault` puts the vault in the place of its text. */
const VAULT = inTopic({
  squads: text('Multisig whose vault acts, or that vault; your keypair proposes. none overrides the setting', {
    placeholder: 'MULTISIG[:VAULT]',
  }) as CommandInput<unknown> as CommandInput<ActingVault | undefined>,
  guard_inside: toggle(
    'With --squads: what is approved fails unless the vault keeps the SOL that it has now beyond the act; any other spend blocks it',
  ),
})
/** The code has no value, or the name of a file. */
const PHONE = inTopic({
  qr: text('Show a QR code: a phone signs and sends it (docs/pay.md); with a name, write it to that file', {
    placeholder: 'FILE.svg',
    bare: true,
    implies: 'build_only',
    conflicts: ['squads'],
  }),
})
/** Without the QR code, for launches: they take several transactions, and a code gives one. */
export const SIGNING_HERE = { ...OWN_KEY, ...VAULT }
export const SIGNING = { ...SIGNING_HERE, ...PHONE }
/** Of commands whose keypair signs for itself, even if a multisig is set. */
export const OWN_SIGNING = { ...OWN_KEY, ...PHONE }
/** What a wallet of the user's own or a vault does, and the platform wallet does not. */
export const WITHOUT_PLATFORM = ['keypair', 'build_only', 'payer', 'creator', 'authority', 'squads']
export const signedFlag = (about: string) => toggle(about, { conflicts: WITHOUT_PLATFORM })
/** The key of a request with `mode: signed`, for commands that have `--signed`. */
export const IDEMPOTENCY_KEY = text('With --signed: repeat under this key what an earlier run began', {
  placeholder: 'KEY',
  needs: ['signed'],
  topic: 'signing',
})
export interface TermsField {
  tx_version?: 1
  guard?: 'required' | 'off'
}
/** The fields `tx_version` and `guard` of a request; omitted for the default, because older daemons do not know them. */
export const termsField = ({ tx_version, guard = 'when-it-fits' }: TermsFlags): TermsField => ({
  ...(tx_version === '1' ? { tx_version: 1 } : {}),
  ...(guard === 'when-it-fits' ? {} : { guard }),
})
export const vaultApprover = ({ multisig, vaultIndex, member, guardInside }: ActingVault) => ({
  kind: 'squads' as const,
  multisig,
  vault_index: vaultIndex,
  member,
  ...(guardInside ? { guard_inside: true } : {}),
})
/** The `approver` field of a request, if the vault of a multisig acts. */
export const approverField = ({ squads }: { squads?: ActingVault | undefined }) =>
  squads === undefined ? {} : { approver: vaultApprover(squads) }
/** The fields of every request that builds; `dry_run`, `force` and `approver` are omitted like `tx_version`. */
export const buildFields = ({
  dry_run,
  force,
  ...flags
}: TermsFlags & {
  dry_run: boolean
  force?: boolean
  squads?: ActingVault | undefined
}): { dry_run?: true; force?: true } & TermsField & ReturnType<typeof approverField> => ({
  ...(dry_run ? { dry_run: true } : {}),
  ...(force ? { force: true } : {}),
  ...termsField(flags),
  ...approverField(flags),
})
export type SigningFlags = Omit<InputValues<typeof SIGNING>, 'payer' | 'qr' | 'squads' | 'guard_inside'> & {
  payer?: string | undefined
  qr?: string | undefined
  squads?: ActingVault | undefined
}

/**
 * A device shows what known programs do, but only a hash of a transaction with guards. So what it signs has none, unless
 * the flag asks for them.
 */
export async function withDeviceTerms(
  { flags }: Verb,
  inputs: Record<string, unknown>,
  { wallet }: Pick<Session, 'wallet'>,
): Promise<Record<string, unknown>> {
  const takesGuard = 'guard' in flags && 'keypair' in flags
  const signsElsewhere = inputs.signed === true || inputs.payer !== undefined
  if (!takesGuard || signsElsewhere || inputs.guard !== undefined) return inputs
  const isDevice = await wallet.isDevice(inputs.keypair as string | undefined).catch(() => false)
  return isDevice ? { ...inputs, guard: 'off' } : inputs
}
