/** What a remote signer needs of a provider. */
import type { ProviderCall } from './provider-requests.ts'
import type { ProviderName } from './types.ts'

/** The part of a `@solana/keychain-*` signer that svc uses: raw bytes in, 64 bytes by address out. */
export interface KeychainSigner {
  address: string
  signMessages(
    messages: readonly { content: Uint8Array; signatures: Record<string, never> }[],
  ): Promise<readonly Record<string, Uint8Array>[]>
  isAvailable(): Promise<boolean>
}

export interface RemoteProvider {
  name: ProviderName
  /** Name of the provider for users, with its host. */
  label: string
  /** Loads the package and makes its signer. It is called again after a failure. */
  open: () => Promise<KeychainSigner>
  signs: ProviderCall['signs']
  mayHaveSigned?: ProviderCall['mayHaveSigned']
  adapt?: ProviderCall['adapt']
  /** Name of the setting with the provider's location. */
  where: string
  /** Returns what to check when the provider answers this HTTP status. */
  onStatus: (status: number) => string
  /** What to check when the provider answers but is unusable as configured. */
  unusable: string
  /** Returns the address in the answer to a check. A provider without this method signs a text instead. */
  addressIn?: (answer: string) => string | undefined
  /** Returns why a successful answer has no signature, if it states a reason. */
  explain?: (answer: string) => string | undefined
}
