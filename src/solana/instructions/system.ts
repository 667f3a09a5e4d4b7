/** Instructions of the System program (solana-system-interface); accounts and fields have the names that validators show. */
import type { ByteReader } from '../byte-reader.ts'
import type { InstructionDecoder } from './decoder.ts'

/** Lamports and space are unsigned 64-bit integers. */
export type SystemInstruction =
  | { type: 'createAccount'; source: string; newAccount: string; lamports: bigint; space: bigint; owner: string }
  | { type: 'assign'; account: string; owner: string }
  | { type: 'transfer'; source: string; destination: string; lamports: bigint }
  | {
      type: 'createAccountWithSeed'
      source: string
      newAccount: string
      base: string
      seed: string
      lamports: bigint
      space: bigint
      owner: string
    }
  | { type: 'advanceNonce'; nonceAccount: string; recentBlockhashesSysvar: string; nonceAuthority: string }
  | {
      type: 'withdrawFromNonce'
      nonceAccount: string
      destination: string
      recentBlockhashesSysvar: string
      rentSysvar: string
      nonceAuthority: string
      lamports: bigint
    }
  | {
      type: 'initializeNonce'
      nonceAccount: string
      recentBlockhashesSysvar: string
      rentSysvar: string
      nonceAuthority: string
    }
  | { type: 'authorizeNonce'; nonceAccount: string; nonceAuthority: string; newAuthorized: string }
  | { type: 'allocate'; account: string; space: bigint }
  | { type: 'allocateWithSeed'; account: string; base: string; seed: string; space: bigint; owner: string }
  | { type: 'assignWithSeed'; account: string; base: string; seed: string; owner: string }
  | {
      type: 'transferWithSeed'
      source: string
      sourceBase: string
      destination: string
      lamports: bigint
      sourceSeed: string
      sourceOwner: string
    }
  | { type: 'upgradeNonce'; nonceAccount: string }

type SystemDecoder = (r: ByteReader, account: (index: number) => string) => SystemInstruction

const seed = (r: ByteReader) => r.text(r.u64())

/** Decoders indexed by the tag at the start of the data. */
const SYSTEM_DECODERS: readonly SystemDecoder[] = [
  (r, a) => ({
    type: 'createAccount',
    source: a(0),
    newAccount: a(1),
    lamports: r.u64(),
    space: r.u64(),
    owner: r.key(),
  }),
  (r, a) => ({ type: 'assign', account: a(0), owner: r.key() }),
  (r, a) => ({ type: 'transfer', source: a(0), destination: a(1), lamports: r.u64() }),
  (r, a) => ({
    type: 'createAccountWithSeed',
    source: a(0),
    newAccount: a(1),
    base: r.key(),
    seed: seed(r),
    lamports: r.u64(),
    space: r.u64(),
    owner: r.key(),
  }),
  (_, a) => ({ type: 'advanceNonce', nonceAccount: a(0), recentBlockhashesSysvar: a(1), nonceAuthority: a(2) }),
  (r, a) => ({
    type: 'withdrawFromNonce',
    nonceAccount: a(0),
    destination: a(1),
    recentBlockhashesSysvar: a(2),
    rentSysvar: a(3),
    nonceAuthority: a(4),
    lamports: r.u64(),
  }),
  (r, a) => ({
    type: 'initializeNonce',
    nonceAccount: a(0),
    recentBlockhashesSysvar: a(1),
    rentSysvar: a(2),
    nonceAuthority: r.key(),
  }),
  (r, a) => ({ type: 'authorizeNonce', nonceAccount: a(0), nonceAuthority: a(1), newAuthorized: r.key() }),
  (r, a) => ({ type: 'allocate', account: a(0), space: r.u64() }),
  (r, a) => ({
    type: 'allocateWithSeed',
    account: a(0),
    base: r.key(),
    seed: seed(r),
    space: r.u64(),
    owner: r.key(),
  }),
  (r, a) => ({ type: 'assignWithSeed', account: a(0), base: r.key(), seed: seed(r), owner: r.key() }),
  (r, a) => ({
    type: 'transferWithSeed',
    source: a(0),
    sourceBase: a(1),
    destination: a(2),
    lamports: r.u64(),
    sourceSeed: seed(r),
    sourceOwner: r.key(),
  }),
  (_, a) => ({ type: 'upgradeNonce', nonceAccount: a(0) }),
]

export const decodeSystem: InstructionDecoder<SystemInstruction> = (reader, account) =>
  SYSTEM_DECODERS[reader.u32()]?.(reader, account) ?? null
