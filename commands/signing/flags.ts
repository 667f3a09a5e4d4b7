/** The flags of every command that signs. */
import { choice, flag, text, type Values } from '../command.ts'

export const KEYPAIR = text("Keypair file to sign with (default: the Solana CLI's)", {
  placeholder: 'FILE',
  short: 'k',
})
export const WAITS = ['none', 'confirmed', 'finalized'] as const
export type Wait = (typeof WAITS)[number]

export const WAIT = choice(WAITS, 'Wait until it is confirmed (default) or finalized, or none')

export const SIGNING = {
  keypair: KEYPAIR,
  dry_run: flag('Stop after the simulation'),
  build_only: flag('Print the unsigned transaction and who must sign it'),
  wait: WAIT,
}
export type SigningFlags = Values<typeof SIGNING>
