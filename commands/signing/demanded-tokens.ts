/** Lists the calls that make a token, and give up or give away one of its authorities. */
import type { TokenExtensions } from '../../src/api/extension-fields.ts'
import type { Client } from '../../src/client.ts'
import { bytesOfHex, hexOf } from '../../src/solana/bytes.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { TOKEN_METADATA } from '../../src/solana/programs/token-metadata.ts'
import { TOKEN_AUTHORITIES } from '../../src/solana/token-authorities.ts'
import {
  anyValue,
  atMost,
  type Call,
  MOST_LAMPORTS,
  opens,
  type Sent,
  type Signing,
  TOKEN_PROGRAMS,
  type Wanted,
} from './demand.ts'

type TokenBody = Sent<Client['tokens']['create']>

/** The token of a request. Null is any: the API stores the metadata of a launch, and its preset decides the rest. */
type MadeToken = Required<Pick<TokenBody, 'name' | 'symbol' | 'revoke_mint_authority' | 'revoke_freeze_authority'>> & {
  [K in 'uri' | 'decimals' | 'initial_supply']: NonNullable<TokenBody[K]> | null
} & Pick<TokenBody, 'token_program'> & { extensions?: TokenExtensions; mint: string; isImmutable: boolean }

/** Metaplex's metadata without fee, creators and collection. */
function isPlainMetadata(hex: string, isImmutable: boolean): boolean {
  const args = TOKEN_METADATA.argsOf('create_metadata_account_v3', bytesOfHex(hex))
  if (args === null || args.seller_fee_basis_points > 0 || args.is_mutable === isImmutable) return false
  return [args.creators, args.collection, args.uses, args.collection_details].every((part) => part === null)
}

export async function makesToken({ payer, accounts }: Signing, token: MadeToken): Promise<Call[]> {
  const { mint, name, symbol, uri, decimals, initial_supply: supply, isImmutable, extensions } = token
  const isSpl = (token.token_program ?? 'spl') === 'spl'
  const program = isSpl ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
  const texts = { name, symbol, uri: uri ?? anyValue }
  const owner = { mint_authority: payer, mint }
  const own = await accounts(mint, payer)
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
        freezeAuthority: token.revoke_freeze_authority ? null : payer,
      },
    },
    ...(isSpl
      ? [
          {
            program: TOKEN_METADATA.id,
            call: 'create_metadata_account_v3',
            fields: { ...owner, ...texts, payer, update_authority: isImmutable ? SYSTEM_PROGRAM : payer },
            data: (hex: string) => isPlainMetadata(hex, isImmutable),
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
    ...beginsExtensions(payer, mint, extensions),
    ...(supply === '0'
      ? []
      : [
          opens(payer, payer, mint),
          ...(extensions?.default_frozen
            ? [{ program, call: 'thawAccount', fields: { mint, account: own, authority: payer } }]
            : []),
          {
            program,
            call: 'mintTo',
            fields: { mint, account: own, authority: payer, amount: supply ?? anyValue },
          },
        ]),
    ...(token.revoke_mint_authority
      ? [setsAuthority({ of: mint, kind: TOKEN_AUTHORITIES.mint.kind, to: null, payer })]
      : []),
  ]
}

/** The payer gets each authority. */
function beginsExtensions(payer: string, mint: string, extensions: TokenExtensions | undefined): Call[] {
  if (extensions === undefined) return []
  const { transfer_fee: fee, interest_rate: interest, scaled_amount: scaled, transfer_hook: hook } = extensions
  const begins = (isAsked: unknown, call: string, fields: Call['fields']): Call[] =>
    isAsked ? [{ program: TOKEN_2022_PROGRAM, call, fields: { mint, ...fields } }] : []
  return [
    ...begins(fee, 'initializeTransferFeeConfig', {
      transferFeeConfigAuthority: payer,
      withdrawWithheldAuthority: payer,
      transferFeeBasisPoints: fee?.basis_points ?? 0,
      maximumFee: fee?.maximum_fee ?? '0',
    }),
    ...begins(interest, 'initializeInterestBearingConfig', {
      rateAuthority: payer,
      rate: interest?.basis_points ?? 0,
    }),
    ...begins(scaled, 'initializeScaledUiAmountConfig', {
      multiplierAuthority: payer,
      multiplier: String(Number(scaled?.multiplier)),
    }),
    ...begins(extensions.non_transferable, 'initializeNonTransferableMint', {}),
    ...begins(extensions.default_frozen, 'initializeDefaultAccountState', { accountState: 'frozen' }),
    ...begins(extensions.permanent_delegate, 'initializePermanentDelegate', {
      delegate: extensions.permanent_delegate ?? null,
    }),
    ...begins(extensions.pausable, 'initializePausableConfig', { pauseAuthority: payer }),
    ...begins(hook, 'initializeTransferHook', { hookAuthority: payer, programId: hook?.program ?? null }),
    ...begins(extensions.closable, 'initializeMintCloseAuthority', { newAuthority: payer }),
  ]
}

export const setsAuthority = (asked: { of: Wanted; kind: number; to: Wanted; payer: string }): Call => ({
  program: TOKEN_PROGRAMS,
  call: 'setAuthority',
  fields: { account: asked.of, kind: asked.kind, newAuthority: asked.to, authority: asked.payer },
})

/** The authority of a request goes to the new one; null is nobody. */
export async function changesAuthority(
  { payer, metadata }: Signing,
  {
    mint,
    type,
    new_authority: to,
  }: Pick<Sent<Client['tokens']['transferAuthority']>, 'mint' | 'type' | 'new_authority'>,
): Promise<Call[]> {
  if (type !== 'metadata') {
    return [setsAuthority({ of: mint, kind: TOKEN_AUTHORITIES[type].kind, to, payer })]
  }
  return [
    {
      program: TOKEN_METADATA.id,
      call: 'update_metadata_account_v2',
      fields: { metadata: await metadata(mint), update_authority: payer },
      // It makes the metadata immutable, or sets its update authority, and changes nothing else.
      data: hexOf(
        TOKEN_METADATA.data(
          'update_metadata_account_v2',
          to === null ? { is_mutable: false } : { new_update_authority: to },
        ),
      ),
      group: 'metadata',
    },
    {
      program: TOKEN_2022_PROGRAM,
      call: 'update_token_metadata_authority',
      fields: { metadata: mint, update_authority: payer, new_authority: to ?? SYSTEM_PROGRAM },
      group: 'metadata',
    },
    // The authority over where the metadata of Token-2022 is.
    {
      ...setsAuthority({ of: mint, kind: TOKEN_AUTHORITIES.metadata_pointer.kind, to, payer }),
      program: TOKEN_2022_PROGRAM,
      least: 0,
    },
  ]
}
