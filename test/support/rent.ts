/** Rent minimums on the embedded chains of the tests, whose rate is that of the program cache or of a new chain. */
import { readCachedSettings } from '../../src/localnet/chain-settings.ts'
import { DEFAULT_SETTINGS } from '../../src/solana/cluster-settings.ts'
import { PROGRAMS_DIR } from './programs.ts'

const { rent } = readCachedSettings(PROGRAMS_DIR).settings ?? DEFAULT_SETTINGS
/** Bytes that every account counts in addition to its data. */
const OVERHEAD = 128

/** Lamports for bytes that include the overhead of their accounts. */
export const rentForBytes = (bytes: number): bigint =>
  BigInt(Math.trunc(Number(BigInt(bytes) * rent.lamportsPerByte) * rent.exemptionThreshold))

/** Lamports that an account with so many bytes of data must hold. */
export const rentOf = (bytes: number): bigint => rentForBytes(bytes + OVERHEAD)

export const WALLET_RENT = rentOf(0)
/** Of SPL Token. */
export const TOKEN_ACCOUNT_RENT = rentOf(165)
/** Of an associated account of Token-2022. */
export const TOKEN_2022_ACCOUNT_RENT = rentOf(170)
/** Of the record of a claim from an airdrop. */
export const CLAIM_STATUS_RENT = rentOf(64)
/** Of a lock of Jupiter Lock, without its token account. */
export const LOCK_RENT = rentOf(296)
