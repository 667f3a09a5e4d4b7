/** Opens the configured signer: a keypair file, or a key that never leaves its provider. */
import { resolve } from 'node:path'
import {
  type Config,
  ConfigError,
  renewSecrets,
  SETTINGS,
  type Setting,
  type SettingName,
} from '../../settings/config.ts'
import { awsKmsProvider } from './aws-kms.ts'
import { signatureVerifier } from './ed25519.ts'
import { vaultProvider } from './hashicorp-vault.ts'
import { KEYPAIR_SHAPE, KeypairFileError, readKeypairFile } from './keypair-file.ts'
import { privyProvider } from './privy.ts'
import type { RemoteProvider } from './remote-provider.ts'
import { createRemoteSigner } from './remote-signer.ts'
import { publicKeySetting, requiredSetting } from './settings.ts'
import { turnkeyProvider } from './turnkey.ts'
import { type ProviderName, type Signer, type SignerOptions, SignerUnavailable } from './types.ts'

export { type Signer, type SignerOptions, SignerUnavailable }

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
  return renewingSigner(config, () => createRemoteSigner(PROVIDERS[name](config, address), address, options))
}

/**
 * Makes the signer anew once its secrets have changed. When the provider refuses, and certainly nothing was signed,
 * their files are read again; with another value the call is repeated once.
 */
function renewingSigner(config: Config, make: () => Signer): Signer {
  const secrets = () => JSON.stringify(SIGNER_SECRETS.map((name) => config.values[name]))
  let made = { signer: make(), of: secrets() }
  const present = () => {
    const of = secrets()
    if (of !== made.of) made = { signer: make(), of }
    return made.signer
  }
  const run = async <T>(call: (signer: Signer) => Promise<T>): Promise<T> => {
    try {
      return await call(present())
    } catch (error) {
      const isRefused = error instanceof SignerUnavailable && error.signed === 'no'
      if (!isRefused || renewSecrets(config, 'signer.').length === 0) throw error
      return call(present())
    }
  }
  const { provider, address } = made.signer
  return {
    provider,
    address,
    sign: (message) => run((each) => each.sign(message)),
    check: () => run((each) => each.check()),
  }
}

const SIGNER_SECRETS = (Object.keys(SETTINGS) as SettingName[]).filter(
  (name) => name.startsWith('signer.') && (SETTINGS[name] as Setting).secret,
)

const PROVIDERS: Record<Exclude<ProviderName, 'keypair'>, (config: Config, address: string) => RemoteProvider> = {
  vault: vaultProvider,
  turnkey: turnkeyProvider,
  privy: privyProvider,
  'aws-kms': awsKmsProvider,
}

/** Throws ConfigError when the file is missing, readable by others, malformed, or has another key than expected. */
function openKeypairSigner(config: Config): Signer {
  const file = resolve(requiredSetting(config, 'signer.keypair'))
  const expected = publicKeySetting(config)
  const { address, sign } = readConfiguredKeypair(file)
  if (expected !== undefined && expected !== address) {
    throw new ConfigError(
      `signer.keypair: ${file} holds the key of ${address}, and signer.public-key is ${expected}; change one of them`,
    )
  }
  const isSignatureOf = signatureVerifier(address)
  return {
    provider: 'keypair',
    address,
    async sign(message) {
      const content = Uint8Array.from(message)
      const signature = Uint8Array.from(sign(content))
      if (!isSignatureOf(content, signature))
        throw new SignerUnavailable(`the keypair file ${file} signs wrongly`, 'unknown')
      return signature
    },
    async check() {},
  }
}

function readConfiguredKeypair(file: string) {
  try {
    return readKeypairFile(file)
  } catch (error) {
    if (!(error instanceof KeypairFileError)) throw error
    const { fault, message, next } = error
    const way = next ?? (fault === 'missing' ? 'make one with `solana-keygen new`' : KEYPAIR_SHAPE)
    throw new ConfigError(`signer.keypair: the keypair file ${file} ${message}; ${way}`)
  }
}
