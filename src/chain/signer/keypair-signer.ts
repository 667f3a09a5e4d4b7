/** A signer with the key of a keypair file, which is read once. */
import { resolve } from 'node:path'
import { type Config, ConfigError } from '../../settings/config.ts'
import { signatureVerifier } from './ed25519.ts'
import { KEYPAIR_SHAPE, KeypairFileError, readKeypairFile } from './keypair-file.ts'
import { publicKeySetting, requiredSetting } from './settings.ts'
import { type Signer, SignerUnavailable } from './types.ts'

/** Throws ConfigError when the file is missing, readable by others, malformed, or has another key than expected. */
export function openKeypairSigner(config: Config): Signer {
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
