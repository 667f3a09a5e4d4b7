/** Opens the configured signer: a keypair file, or a key that never leaves its provider. */

import { type Config, ConfigError } from '../../settings/config.ts'
import { awsKmsProvider } from './aws-kms.ts'
import { vaultProvider } from './hashicorp-vault.ts'
import { openKeypairSigner } from './keypair-signer.ts'
import { privyProvider } from './privy.ts'
import type { RemoteProvider } from './remote-provider.ts'
import { createRemoteSigner } from './remote-signer.ts'
import { publicKeySetting } from './settings.ts'
import { turnkeyProvider } from './turnkey.ts'
import type { ProviderName, Signer, SignerOptions } from './types.ts'

export { type Signer, type SignerOptions, SignerUnavailable } from './types.ts'

/**
 * Returns the signer of the settings, or null when `signer` is none. It reads files but calls no provider; `check`
 * does. Throws ConfigError naming the missing or wrong setting. `timeoutMs` (10,000) limits each call of the signer.
 */
export async function openConfiguredSigner(config: Config, options: SignerOptions = {}): Promise<Signer | null> {
  const name = config.values.signer as ProviderName | 'none'
  if (name === 'none') return null
  if (name === 'keypair') return openKeypairSigner(config)
  const address = publicKeySetting(config)
  if (address === undefined) {
    throw new ConfigError(
      `signer.public-key is missing: signer ${name} needs the address of its key`,
      undefined,
      'signer.public-key',
    )
  }
  return createRemoteSigner(PROVIDERS[name](config, address), address, options)
}

const PROVIDERS: Record<Exclude<ProviderName, 'keypair'>, (config: Config, address: string) => RemoteProvider> = {
  vault: vaultProvider,
  turnkey: turnkeyProvider,
  privy: privyProvider,
  'aws-kms': awsKmsProvider,
}
