/** Genesis hashes of the public clusters, which tell one chain from another whatever URL reaches it. */

/** From docs.anza.xyz, clusters; CAIP-2 names the chains by them too (ChainAgnostic/namespaces, solana/caip2.md). */
export const GENESIS_HASHES: Readonly<Record<string, string>> = {
  'mainnet-beta': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY',
}
