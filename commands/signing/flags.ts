/** The flags of every command that signs. */
import { choiceOf, type InputValues, text, toggle } from '../command.ts'

export const KEYPAIR = text("Keypair file to sign with (default: the Solana CLI's)", {
  placeholder: 'FILE',
  short: 'k',
})
export const WAITS = ['none', 'confirmed', 'finalized'] as const
export type Wait = (typeof WAITS)[number]

export const WAIT = choiceOf(WAITS, 'Wait until it is confirmed (default) or finalized, or none')

export const SIGNING = {
  keypair: KEYPAIR,
  dry_run: toggle('Stop after the simulation: nothing is signed, sent or stored'),
  build_only: toggle('Print the unsigned transaction and who must sign it'),
  wait: WAIT,
}
/**
 * The `dry_run` field of a request, so that nothing is stored; omitted otherwise, because older daemons do not know it.
 */
export const dryRunField = ({ dry_run }: { dry_run: boolean }): { dry_run?: true } => (dry_run ? { dry_run: true } : {})
export type SigningFlags = InputValues<typeof SIGNING>
