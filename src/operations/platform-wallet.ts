/** Resolves the address that receives fees of pools, platform fees and leftovers. */
import type { Services } from '../context.ts'
import { internal } from '../platform/errors.ts'
import { openSigner } from './signing/require-signer.ts'

/** Returns `platform-wallet`, else the signer's address. Throws internal_error when there is neither. */
export async function platformWallet(services: Pick<Services, 'config' | 'signer' | 'log'>): Promise<string> {
  const set = services.config.values['platform-wallet']
  if (set !== undefined) return set
  const opened = await openSigner(services)
  if (opened !== null) return opened.address
  throw internal(
    'No platform wallet is configured: set `platform-wallet` to an address, or set up a signer (docs/signer.md)',
    { unset: 'platform-wallet' },
  )
}
