/** The address that earns: fees of pools, platform fees, leftovers. */
import type { Services } from '../context.ts'
import { internal } from '../errors.ts'
import { asApiError } from './signing/require-signer.ts'

/** `platform-wallet`, else the signer's address. Throws internal_error where there is neither. */
export async function platformWallet({
  config,
  signer,
  log,
}: Pick<Services, 'config' | 'signer' | 'log'>): Promise<string> {
  const set = config.values['platform-wallet']
  if (set !== undefined) return set
  const opened = await signer().catch((error) => {
    throw asApiError(error, log)
  })
  if (opened !== null) return opened.address
  throw internal(
    'No platform wallet is configured: set `platform-wallet` to an address, or set up a signer (docs/signer.md)',
  )
}
