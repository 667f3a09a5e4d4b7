/** The user's named wallets as commands use them: kept in the user's own configuration, never in a project's folder. */

/** How a wallet signs: with a key that a passphrase or the system's keychain unlocks, by a program, or on a Ledger. */
type WalletKind = 'passphrase' | 'keychain' | 'command' | 'ledger'

export interface NamedWallet {
  name: string
  address: string
  kind: WalletKind
  /** The path of its file. */
  file: string
}
export interface MadeWallet extends NamedWallet {
  /** The recovery phrase, which is stored nowhere; null for a key that is made without one. */
  recovery_phrase: string | null
}
/** What a wallet is imported from. */
export type ImportedKey =
  /**
   * A key as text: 64 integers, base58 of 64 bytes, or a recovery phrase; `account` is the phrase's, counted from 0.
   */
  | { text: string; account: number; keychain: boolean }
  /** A program that signs for the address; `command` is its line with arguments, which no shell reads. */
  | { address: string; command: string }
  /** The URL of a Ledger, which is asked for its address. */
  | { device: string }

/** Every method throws a usage problem that names the wallet, and never quotes a key or a passphrase. */
export interface Wallets {
  list(): Promise<NamedWallet[]>
  /** Makes a wallet with a new key; a conflict if the name is taken. */
  make(name: string, options: { phrase: boolean; keychain: boolean }): Promise<MadeWallet>
  import(name: string, key: ImportedKey): Promise<NamedWallet>
  /** The wallet of that name; `not_found` if there is none. */
  get(name: string): Promise<NamedWallet>
  /** Writes the key as a keypair file of the Solana CLI (0600), and replaces none. */
  export(name: string, file: string): Promise<void>
  delete(name: string): Promise<NamedWallet>
}
