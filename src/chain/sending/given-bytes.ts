/** Hands given bytes to web3.js, which writes no version 1 itself (`serialize` of 1.99 throws). */
import type { VersionedMessage, VersionedTransaction } from '@solana/web3.js'

/** Stands for a transaction in `Connection.simulateTransaction`, which asks it for nothing but its bytes. */
export const givenTransaction = (raw: Uint8Array): VersionedTransaction =>
  ({ message: undefined, serialize: () => raw }) as unknown as VersionedTransaction

/** Stands for a message in `Connection.getFeeForMessage`, which asks it for nothing but its bytes. */
export const givenMessage = (bytes: Uint8Array): VersionedMessage =>
  ({ serialize: () => bytes }) as unknown as VersionedMessage
