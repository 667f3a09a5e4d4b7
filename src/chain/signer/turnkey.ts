/** Signs raw payloads with a private key or a wallet account of Turnkey. */

import { createECDH } from 'node:crypto'
import { type Config, ConfigError } from '../../settings/config.ts'
import type { KeychainSigner, RemoteProvider } from './remote-provider.ts'
import { requiredSetting, requiredUrlSetting } from './settings.ts'

export function turnkeyProvider(config: Config, publicKey: string): RemoteProvider {
  const apiBaseUrl = requiredUrlSetting(config, 'signer.turnkey-url')
  const organizationId = requiredSetting(config, 'signer.turnkey-organization')
  const privateKeyId = requiredSetting(config, 'signer.turnkey-key')
  const apiPublicKey = requiredSetting(config, 'signer.turnkey-api-public-key')
  const apiPrivateKey = requiredSetting(config, 'signer.turnkey-api-private-key')
  if (apiPublicOf(apiPrivateKey) !== apiPublicKey.toLowerCase()) {
    throw new ConfigError('signer.turnkey-api-private-key does not belong to signer.turnkey-api-public-key')
  }
  const keys = { apiPublicKey, apiPrivateKey }
  return {
    name: 'turnkey',
    label: `Turnkey at ${new URL(apiBaseUrl).host}`,
    where: 'signer.turnkey-url',
    async open() {
      const { TurnkeySigner } = await import('@solana/keychain-turnkey')
      const ids = { apiBaseUrl, organizationId, privateKeyId, publicKey }
      return new TurnkeySigner({ ...keys, ...ids }) as unknown as KeychainSigner
    },
    signs: ({ pathname }) => pathname.includes('/public/v1/submit/'),
    onStatus: (status) =>
      status === 401 || status === 403
        ? 'its API key is not accepted or may not sign; see signer.turnkey-api-public-key and the policies there'
        : 'see signer.turnkey-organization and signer.turnkey-key',
    unusable: 'the API key must be of signer.turnkey-organization',
    explain(answer) {
      const status = /"status"\s*:\s*"(ACTIVITY_STATUS_[A-Z_]{1,40})"/.exec(answer)?.[1]
      return status && `its activity is ${status}; the policies there must let this API key sign alone`
    },
  }
}

function apiPublicOf(privateKey: string): string | undefined {
  try {
    const pair = createECDH('prime256v1')
    pair.setPrivateKey(privateKey, 'hex')
    return pair.getPublicKey('hex', 'compressed')
  } catch {
    return undefined
  }
}
