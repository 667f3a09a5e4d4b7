/** Kinds of holders of tokens or assets, and which kinds a list of recipients leaves out by rule. */

/**
 * In the order of their codes in stored rows. `wallet`: an account that a key signs for. `pda`: an address that only a
 * program can sign for, without an account of a program. `program`: an account of any other program.
 */
export const HOLDER_KINDS = [
  'wallet',
  'damm_v2_vault',
  'dbc_vault',
  'distributor_vault',
  'lock_escrow',
  'pda',
  'program',
  'burn',
  'raise_vault',
] as const
export type HolderKind = (typeof HOLDER_KINDS)[number]
