/** System program instructions in jsonParsed form (transaction-status's parse_system). */
import type { ByteReader } from '../../../solana/byte-reader.ts'
import type { InstructionParser } from './parsed.ts'

type Parse = (r: ByteReader, account: (index: number) => string) => [type: string, info: Record<string, unknown>]

const seed = (r: ByteReader) => r.text(r.u64())

const INSTRUCTIONS: readonly Parse[] = [
  (r, a) => ['createAccount', { source: a(0), newAccount: a(1), lamports: r.u64(), space: r.u64(), owner: r.key() }],
  (r, a) => ['assign', { account: a(0), owner: r.key() }],
  (r, a) => ['transfer', { source: a(0), destination: a(1), lamports: r.u64() }],
  (r, a) => [
    'createAccountWithSeed',
    {
      source: a(0),
      newAccount: a(1),
      base: r.key(),
      seed: seed(r),
      lamports: r.u64(),
      space: r.u64(),
      owner: r.key(),
    },
  ],
  (_, a) => ['advanceNonce', { nonceAccount: a(0), recentBlockhashesSysvar: a(1), nonceAuthority: a(2) }],
  (r, a) => [
    'withdrawFromNonce',
    {
      nonceAccount: a(0),
      destination: a(1),
      recentBlockhashesSysvar: a(2),
      rentSysvar: a(3),
      nonceAuthority: a(4),
      lamports: r.u64(),
    },
  ],
  (r, a) => [
    'initializeNonce',
    { nonceAccount: a(0), recentBlockhashesSysvar: a(1), rentSysvar: a(2), nonceAuthority: r.key() },
  ],
  (r, a) => ['authorizeNonce', { nonceAccount: a(0), nonceAuthority: a(1), newAuthorized: r.key() }],
  (r, a) => ['allocate', { account: a(0), space: r.u64() }],
  (r, a) => ['allocateWithSeed', { account: a(0), base: r.key(), seed: seed(r), space: r.u64(), owner: r.key() }],
  (r, a) => ['assignWithSeed', { account: a(0), base: r.key(), seed: seed(r), owner: r.key() }],
  (r, a) => [
    'transferWithSeed',
    {
      source: a(0),
      sourceBase: a(1),
      destination: a(2),
      lamports: r.u64(),
      sourceSeed: seed(r),
      sourceOwner: r.key(),
    },
  ],
  (_, a) => ['upgradeNonce', { nonceAccount: a(0) }],
]

export const parseSystem: InstructionParser = (reader, account) => {
  const parse = INSTRUCTIONS[reader.u32()]
  if (!parse) return null
  const [type, info] = parse(reader, account)
  return { type, info }
}
