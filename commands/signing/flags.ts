/** Declares the flags of every command that signs. */
import { choiceOf, type InputValues, text, toggle } from '../cli/command.ts'

export const KEYPAIR = text(
  'Keypair file or wallet that signs (default: the setting keypair, or the file of the Solana CLI)',
  {
    placeholder: 'FILE|NAME',
    short: 'k',
  },
)
export const WAITS = ['none', 'confirmed', 'finalized'] as const
export type Wait = (typeof WAITS)[number]

export const WAIT = choiceOf(WAITS, 'Wait until it is confirmed (default) or finalized, or none')

export const TX_VERSION = choiceOf(['0', '1'], 'Version of the transaction: 0 (the default), or 1, which has more room')

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

export const SIGNING = {
  keypair: KEYPAIR,
  payer: PAYER,
  tx_version: TX_VERSION,
  dry_run: toggle('Stop after the simulation: nothing is signed, sent or stored'),
  build_only: toggle('Print the unsigned transaction and who must sign it'),
  wait: WAIT,
}
/** The `tx_version` field of a request; omitted for the default, because older daemons do not know it. */
export const txVersionField = ({ tx_version }: { tx_version?: '0' | '1' | undefined }): { tx_version?: 1 } =>
  tx_version === '1' ? { tx_version: 1 } : {}
/** The fields of every request that builds; `dry_run`, with which nothing is stored, is omitted like `tx_version`. */
export const buildFields = ({
  dry_run,
  ...flags
}: {
  dry_run: boolean
  tx_version?: '0' | '1' | undefined
}): { dry_run?: true; tx_version?: 1 } => ({ ...(dry_run ? { dry_run: true } : {}), ...txVersionField(flags) })
export type SigningFlags = Omit<InputValues<typeof SIGNING>, 'payer'> & { payer?: string | undefined }
