/** Signs with an ed25519 key in the transit engine of HashiCorp Vault. */

import type { Config } from '../../settings/config.ts'
import { encodePublicKey } from './ed25519.ts'
import type { KeychainSigner, RemoteProvider } from './remote-provider.ts'
import { requiredHeaderSetting, requiredSetting, requiredUrlSetting } from './settings.ts'

export function vaultProvider(config: Config, publicKey: string): RemoteProvider {
  const vaultAddr = requiredUrlSetting(config, 'signer.vault-url')
  const keyName = requiredSetting(config, 'signer.vault-key')
  const vaultToken = requiredHeaderSetting(config, 'signer.vault-token')
  return {
    name: 'vault',
    label: `Vault at ${new URL(vaultAddr).host}`,
    where: 'signer.vault-url',
    async open() {
      const { VaultSigner } = await import('@solana/keychain-vault')
      return new VaultSigner({ vaultAddr, vaultToken, keyName, publicKey }) as unknown as KeychainSigner
    },
    signs: ({ pathname }) => pathname.includes('/v1/transit/sign/'),
    // The package reads only signatures of a key's first version. Every signature is verified in any case.
    adapt: (answer) => answer.replace(/"vault:v\d+:/, '"vault:v1:'),
    onStatus: (status) =>
      status === 403
        ? `its token is wrong, has expired, or may not use transit/sign/${keyName} and transit/keys/${keyName}; see signer.vault-token`
        : `is there a key ${keyName} in its transit engine? see signer.vault-key`,
    unusable: `the key ${keyName} must be one of type ed25519 in its transit engine`,
    addressIn: latestKey,
  }
}

function latestKey(answer: string): string | undefined {
  const { data } = vaultAnswer(answer) as {
    data?: { latest_version?: number; keys?: Record<string, { public_key?: unknown }> }
  }
  return encodePublicKey(data?.keys?.[String(data.latest_version)]?.public_key, 'base64')
}

function vaultAnswer(answer: string): object {
  try {
    return (JSON.parse(answer) as object | null) ?? {}
  } catch {
    return {}
  }
}
