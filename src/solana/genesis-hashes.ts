/** Genesis hashes of the public clusters, which identify a chain whatever URL reaches it. */

/** From docs.anza.xyz, clusters; CAIP-2 names the chains by them too (ChainAgnostic/namespaces, solana/caip2.md). */
export const GENESIS_HASHES: Readonly<Record<string, string>> = {
  'mainnet-beta': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY',
}

const HASH = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** Whether a node's answer is a hash in base58, because it is compared, stored and shown. */
export const isGenesisHash = (told: unknown): told is string => typeof told === 'string' && HASH.test(told)
