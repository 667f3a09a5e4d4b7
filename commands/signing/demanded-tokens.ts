/** Lists the calls that make a token, or give up one of its authorities. */
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import {
  anyValue,
  atMost,
  type Call,
  MOST_LAMPORTS,
  opens,
  type Signing,
  TOKEN_PROGRAMS,
  type Wanted,
} from './demand.ts'

export interface AskedToken {
  mint: string
  name: string
  symbol: string
  /** Any value if the API stores the metadata. */
  uri: string | null
  /** Null is any; the preset decides. */
  decimals: number | null
  supply: bigint | null
  program: 'spl' | 'token2022'
  keepsFreeze: boolean
  revokesMint: boolean
  isImmutable: boolean
}

/** The end of Metaplex's metadata: no fee, no creators, no collection; then whether it can change. */
const METADATA_END = { mutable: '00000000000100', immutable: '00000000000000' } as const

export async function makesToken({ payer, accounts }: Signing, asked: AskedToken): Promise<Call[]> {
  const { mint, name, symbol, uri, decimals, supply, isImmutable } = asked
  const program = asked.program === 'spl' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
  const texts = { name, symbol, uri: uri ?? anyValue }
  const owner = { mint_authority: payer, mint }
  return [
    {
      program: SYSTEM_PROGRAM,
      call: 'createAccount',
      fields: { source: payer, newAccount: mint, owner: program, lamports: atMost(MOST_LAMPORTS) },
    },
    {
      program,
      call: 'initializeMint2',
      fields: {
        mint,
        decimals: decimals ?? anyValue,
        mintAuthority: payer,
        freezeAuthority: asked.keepsFreeze ? payer : null,
      },
    },
    ...(asked.program === 'spl'
      ? [
          {
            program: PROGRAMS.tokenMetadata.id,
            call: 'create_metadata_account_v3',
            fields: { ...owner, ...texts, payer, update_authority: isImmutable ? SYSTEM_PROGRAM : payer },
            data: (hex: string) => hex.endsWith(METADATA_END[isImmutable ? 'immutable' : 'mutable']),
          },
        ]
      : [
          { program, call: 'initializeMetadataPointer', fields: { mint, pointsTo: mint, authority: null } },
          {
            program,
            call: 'initialize_token_metadata',
            fields: { ...owner, ...texts, metadata: mint, update_authority: payer },
          },
        ]),
    ...(supply === 0n
      ? []
      : [
          opens(payer, payer, mint),
          {
            program,
            call: 'mintTo',
            fields: { mint, account: await accounts(mint, payer), authority: payer, amount: supply ?? anyValue },
          },
        ]),
    ...(asked.revokesMint ? [setsAuthority({ of: mint, kind: MINT_AUTHORITY, to: null, payer })] : []),
  ]
}

const [MINT_AUTHORITY, FREEZE_AUTHORITY] = [0, 1]

export const setsAuthority = (asked: { of: Wanted; kind: number; to: Wanted; payer: string }): Call => ({
  program: TOKEN_PROGRAMS,
  call: 'setAuthority',
  fields: { account: asked.of, kind: asked.kind, newAuthority: asked.to, authority: asked.payer },
})

/** Makes the metadata immutable and changes nothing else. */
const IMMUTABLE = '0f0000000100'

export async function revokes(
  { payer, metadata }: Signing,
  { mint, type }: { mint: string; type: 'mint' | 'freeze' | 'metadata' },
): Promise<Call[]> {
  if (type !== 'metadata') {
    return [setsAuthority({ of: mint, kind: type === 'mint' ? MINT_AUTHORITY : FREEZE_AUTHORITY, to: null, payer })]
  }
  return [
    {
      program: PROGRAMS.tokenMetadata.id,
      call: 'update_metadata_account_v2',
      fields: { metadata: await metadata(mint), update_authority: payer },
      data: IMMUTABLE,
      group: 'metadata',
    },
    {
      program: TOKEN_2022_PROGRAM,
      call: 'update_token_metadata_authority',
      fields: { metadata: mint, update_authority: payer, new_authority: SYSTEM_PROGRAM },
      group: 'metadata',
    },
  ]
}
