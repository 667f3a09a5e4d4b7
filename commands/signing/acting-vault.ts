/** The vault of a multisig in whose name a command acts: what --squads and the setting `squads` mean. */
import type { Verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'
import type { SigningWalletFlags } from './signing-wallet.ts'
import type { ActingVault } from './wallet.ts'

/** Overrides the setting. */
const NONE = 'none'

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
  if (text === undefined || text === NONE) return { ...inputs, squads: undefined }
  const { multisig, vaultIndex } = vaultIn(text, typed === undefined ? 'the setting squads' : '--squads')
  const [{ vaultAddress }, { signingWallet }] = await Promise.all([
    import('../../src/solana/squads/index.ts'),
    import('./signing-wallet.ts'),
  ])
  const { keypair, payer, build_only, dry_run, signed } = inputs
  if (signed === true) {
    throw usage('--signed is for what the platform wallet does itself, not for a vault', {
      param: '--squads',
      next: 'the platform wallet proposes by API, with approver and mode signed (docs/approvals.md); here a member proposes',
    })
  }
  const own = { keypair, payer, build_only, dry_run } as SigningWalletFlags
  const member = await signingWallet(session, own)
  const acting: ActingVault = { multisig, vaultIndex, vault: vaultAddress(multisig, vaultIndex), member }
  return { ...inputs, squads: acting }
}

function vaultIn(text: string, shown: string): { multisig: string; vaultIndex: number } {
  const [, multisig, number = '0'] = /^([1-9A-HJ-NP-Za-km-z]{32,44})(?::(\d{1,3}))?$/.exec(text) ?? []
  const vaultIndex = Number(number)
  if (multisig === undefined || vaultIndex > 255) {
    throw usage(
      `${shown} must be the address of a multisig, or MULTISIG:VAULT with a vault from 0 to 255, not "${text}"`,
      {
        param: '--squads',
        next: '--squads none acts without a multisig',
      },
    )
  }
  return { multisig, vaultIndex }
}

/** Throws a usage problem if a command that cannot propose has a vault. */
export function refuseVault({ squads }: { squads?: ActingVault | undefined }, why: string): void {
  if (squads === undefined) return
  throw usage(why, { param: '--squads', next: 'add --squads none to act with your own keypair' })
}
