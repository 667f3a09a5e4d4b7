/** Signs messages with a server wallet of Privy. */

import type { Config } from '../../settings/config.ts'
import type { KeychainSigner, RemoteProvider } from './remote-provider.ts'
import { requiredHeaderSetting, requiredSetting, requiredUrlSetting } from './settings.ts'

export function privyProvider(config: Config): RemoteProvider {
  const apiBaseUrl = requiredUrlSetting(config, 'signer.privy-url')
  const appId = requiredHeaderSetting(config, 'signer.privy-app')
  const appSecret = requiredHeaderSetting(config, 'signer.privy-secret')
  const walletId = requiredSetting(config, 'signer.privy-wallet')
  return {
    name: 'privy',
    label: `Privy at ${new URL(apiBaseUrl).host}`,
    where: 'signer.privy-url',
    // The package first requests the wallet's address, which is then compared with the expected one.
    async open() {
      const { PrivySigner } = await import('@solana/keychain-privy')
      return (await PrivySigner.create({ apiBaseUrl, appId, appSecret, walletId })) as unknown as KeychainSigner
    },
    signs: ({ pathname }) => pathname.endsWith(`/wallets/${walletId}/rpc`),
    onStatus: (status) =>
      status === 401 || status === 403
        ? 'its app secret is not accepted or may not sign; see signer.privy-app, signer.privy-secret and the policies there'
        : `is there a wallet ${walletId}? see signer.privy-wallet`,
    unusable: `the wallet ${walletId} must be one of Solana`,
    addressIn: (answer) => /"address"\s*:\s*"([^"]{32,44})"/.exec(answer)?.[1],
  }
}
