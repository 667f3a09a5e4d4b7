/** Lists the calls that make a token, and give up or give away one of its authorities. */
import type { TokenExtensions } from '../../src/api/extension-fields.ts'
import { bytesOfHex, hexOf } from '../../src/solana/bytes.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { TOKEN_METADATA } from '../../src/solana/programs/token-metadata.ts'
import { TOKEN_AUTHORITIES, type TokenAuthorityType } from '../../src/solana/token-authorities.ts'
import {
  type AskedTransfer,
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
  extensions?: TokenExtensions | undefined
}

/** Metaplex's metadata without fee, creators and collection. */
function isPlainMetadata(hex: string, isImmutable: boolean): boolean {
  const args = TOKEN_METADATA.argsOf('create_metadata_account_v3', bytesOfHex(hex))
  if (args === null || args.seller_fee_basis_points > 0 || args.is_mutable === isImmutable) return false
  return [args.creators, args.collection, args.uses, args.collection_details].every((part) => part === null)
}

export async function makesToken({ payer, accounts }: Signing, asked: AskedToken): Promise<Call[]> {
  const { mint, name, symbol, uri, decimals, supply, isImmutable } = asked
  const program = asked.program === 'spl' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
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
        freezeAuthority: asked.keepsFreeze ? payer : null,
      },
    },
    ...(asked.program === 'spl'
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
    ...beginsExtensions(payer, mint, asked.extensions),
    ...(supply === 0n
      ? []
      : [
          opens(payer, payer, mint),
          ...(asked.extensions?.default_frozen
            ? [{ program, call: 'thawAccount', fields: { mint, account: own, authority: payer } }]
            : []),
          {
            program,
            call: 'mintTo',
            fields: { mint, account: own, authority: payer, amount: supply ?? anyValue },
          },
        ]),
    ...(asked.revokesMint ? [setsAuthority({ of: mint, kind: TOKEN_AUTHORITIES.mint.kind, to: null, payer })] : []),
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

/** The authority of a request, and who gets it; null for nobody. */
interface AuthorityChange {
  mint: string
  type: TokenAuthorityType
  new_authority: string | null
}

export const revokes = (of: Signing, { mint, type }: Pick<AuthorityChange, 'mint' | 'type'>): Promise<Call[]> =>
  changesAuthority(of, { mint, type, new_authority: null })

export async function changesAuthority(
  { payer, metadata }: Signing,
  { mint, type, new_authority: to }: AuthorityChange,
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

export interface AskedActs {
  act: 'mint' | 'burn' | 'freeze' | 'thaw'
  mint: string
  decimals: number
  /** Raw units; a freeze and a thaw have none. */
  wallets: readonly AskedTransfer[]
}

/** One act for each wallet, on its token account, which a mint and a thaw open if it is missing. */
export async function actsOnWallets({ payer, accounts }: Signing, asked: AskedActs): Promise<Call[]> {
  const { act, mint, decimals, wallets } = asked
  const call = ({ mint: 'mintToChecked', burn: 'burnChecked', freeze: 'freezeAccount', thaw: 'thawAccount' } as const)[
    act
  ]
  const calls = wallets.map(async ({ wallet, amount }): Promise<Call[]> => {
    const own = await accounts(mint, wallet)
    // Instead of a wallet, the request may name one of its token accounts.
    const account = act === 'mint' ? own : [...own, wallet]
    const sums = amount === null ? {} : { amount, decimals }
    const made = { program: TOKEN_PROGRAMS, call, fields: { account, mint, authority: payer, ...sums } }
    return act === 'mint' || act === 'thaw' ? [opens(payer, wallet, mint), made] : [made]
  })
  return (await Promise.all(calls)).flat()
}
