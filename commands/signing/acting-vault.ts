/** The vault of a multisig in whose name a command acts: what --squads and the setting `squads` mean. */
import { ApiError } from '../../src/platform/errors.ts'
import type { Verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'
import type { SigningWalletFlags } from './signing-wallet.ts'
import type { ActingVault } from './wallet.ts'

/** The text of --squads that overrides the setting. */
export const NO_VAULT = 'none'

/**
 * The inputs with the vault in place of the text of --squads, or of the setting `squads`. Throws a usage problem for a
 * text that names no vault.
 */
export async function withVault(
  verb: Verb,
  inputs: Record<string, unknown>,
  session: Session,
): Promise<Record<string, unknown>> {
  if (!('squads' in verb.flags)) return inputs
  const typed = inputs.squads as string | undefined
  const text = typed ?? (await session.squads())
  const { guard_inside: guardInside = false } = inputs
  if (text === undefined || text === NO_VAULT) {
    if (guardInside) throw usage('--guard-inside needs a multisig: give --squads too', { param: '--guard-inside' })
    return { ...inputs, squads: undefined }
  }
  const shown = typed === undefined ? 'the setting squads' : '--squads'
  const named = vaultIn(text, shown)
  const [{ vaultAddress }, { signingWallet }] = await Promise.all([
    import('../../src/solana/squads/index.ts'),
    import('./signing-wallet.ts'),
  ])
  const { keypair, payer, build_only, dry_run } = inputs
  const { multisig, vaultIndex } = await ofVault(session, named, { shown, vaultAddress })
  const own = { keypair, payer, build_only, dry_run } as SigningWalletFlags
  const member = await signingWallet(session, own)
  const vault = vaultAddress(multisig, vaultIndex)
  const acting: ActingVault = { multisig, vaultIndex, vault, member, ...(guardInside ? { guardInside: true } : {}) }
  return { ...inputs, squads: acting }
}

interface NamedVault {
  /** Address of the multisig, or of the vault itself. */
  address: string
  /** Null if no number was given. */
  number: number | null
}

/**
 * The multisig and the number of its vault. The API finds the multisig of a vault's address, if it knows it, and what it
 * answers is derived here; otherwise the address counts as that of a multisig.
 */
async function ofVault(
  { client }: Session,
  { address, number }: NamedVault,
  { shown, vaultAddress }: { shown: string; vaultAddress(multisig: string, index: number): string },
): Promise<{ multisig: string; vaultIndex: number }> {
  const found = await client.multisigs.get({ address }).catch((error: unknown) => {
    if (error instanceof ApiError) return null
    throw error
  })
  const { address: multisig = address, vault_index: vaultIndex = 0 } = found?.data ?? {}
  if (multisig === address || vaultAddress(multisig, vaultIndex) !== address) {
    return { multisig: address, vaultIndex: number ?? 0 }
  }
  if (number === null || number === vaultIndex) return { multisig, vaultIndex }
  throw usage(`${shown} names the vault ${vaultIndex} of ${multisig}, and the number ${number}`, {
    param: '--squads',
    next: `give ${multisig}:${number}, or ${address} alone`,
  })
}

function vaultIn(text: string, shown: string): NamedVault {
  const [, address, number] = /^([1-9A-HJ-NP-Za-km-z]{32,44})(?::(\d{1,3}))?$/.exec(text) ?? []
  if (address === undefined || Number(number ?? 0) > 255) {
    throw usage(
      `${shown} must be the address of a multisig, or MULTISIG:VAULT with a vault from 0 to 255, not "${text}"`,
      {
        param: '--squads',
        next: '--squads none acts without a multisig',
      },
    )
  }
  return { address, number: number === undefined ? null : Number(number) }
}
