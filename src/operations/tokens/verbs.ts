/** Tokens: create, read and list. */

import { extensionMeanings } from '../../api/extension-meanings.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { uriWarnings } from '../../api/uris.ts'
import { buildTokenCreation, mintBytes, readTokenState, tokenStatus } from '../../chain/programs/tokens/index.ts'
import { readAccountKinds } from '../../chain/reads/account-kinds.ts'
import { readProviderAsset } from '../../chain/reads/metadata-provider.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { keyFault } from '../../solana/bare-addresses.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { FreshKey } from '../../solana/signatures.ts'
import { pageTokens } from '../../store/resources/tokens.ts'
import type { Row } from '../../store/schema.ts'
import { unsignedAct } from '../act.ts'
import { listOf, tokenRecord } from '../api-records.ts'
import { newKey, trackingOf } from '../building.ts'
import { generatedKeysField } from '../transactions/generated-keys.ts'
import { checkExtensions } from './authorities.ts'
import { rawTokenOf } from './raw-token.ts'

type Routes = Api['tokens']

/** One and a half times the measured costs of the most expensive creations (54,514 and 31,065 units). */
const CREATE_TOKEN_UNITS = { spl: 85_000, token2022: 50_000 } as const
/** More than all extensions cost together. */
const EXTENSION_UNITS = 25_000

/** Builds the creation of a token, with mint, metadata, supply and revocations in one transaction. */
export const createToken = unsignedAct<Routes['create']>(async (context, input) => {
  const { payer, name, symbol, decimals, uri, token_program: tokenProgram, extensions } = input
  await checkExtensions(context, extensions)
  const mintKey = await mintKeyFor(context, { address: input.mint, param: 'mint', signers: [payer] })
  const mint = mintKey.address
  const creation = {
    mint,
    name,
    symbol,
    decimals,
    uri,
    tokenProgram,
    extensions,
    initialSupply: BigInt(input.initial_supply),
    revokeMintAuthority: input.revoke_mint_authority,
    revokeFreezeAuthority: input.revoke_freeze_authority,
  }
  const warnings = [...uriWarnings({ uri }), ...extensionMeanings(extensions, { who: 'the payer', decimals })]
  return {
    payer,
    requiredProgram: tokenProgram === 'spl' ? PROGRAMS.tokenMetadata : undefined,
    fallbackUnits: CREATE_TOKEN_UNITS[tokenProgram] + (extensions === undefined ? 0 : EXTENSION_UNITS),
    createdBytes: await mintBytes(creation),
    build: ({ rent, ...envelope }) => {
      if (rent === undefined) throw new Error('The rent of the mint was not read')
      return buildTokenCreation({ ...envelope, ...creation, rent })
    },
    summary: (built) => ({
      // The key of the mint signs later, so that it is sealed here, and not by the frame.
      ...generatedKeysField(context.vault, [built.transaction], [mintKey.secretKey]),
      mint,
      required_signers: { mint_secret_key: [...mintKey.secretKey] },
      ...(warnings.length === 0 ? {} : { warnings }),
    }),
    tracked: trackingOf('token', mint, [
      'token.created',
      ...(input.revoke_mint_authority ? (['token.mint_authority_revoked'] as const) : []),
      ...(input.revoke_freeze_authority ? (['token.freeze_authority_revoked'] as const) : []),
    ]),
  }
})

/**
 * Returns a fresh key, or the chosen address with an empty secret key. Throws bad_request if an account is there, and
 * bad_request for the address of another signer or of no key, and if a vault acts, which no other key can sign with.
 */
export async function mintKeyFor(
  context: Context,
  { address, param, signers }: { address: string | undefined; param: string; signers: readonly string[] },
): Promise<Pick<FreshKey, 'address' | 'secretKey'>> {
  if (address === undefined) return newKey(context)
  if (context.vaultActing !== undefined) {
    throw badRequest(
      `${param}: a vault makes its mints itself, because no other key signs what it executes: leave it out`,
      {
        param,
      },
    )
  }
  if (signers.includes(address)) {
    throw badRequest(`${param} must not be a wallet that pays or signs: give the address of a new key`, { param })
  }
  if (keyFault(addressBytes(address)) !== null) {
    throw badRequest(`${param} ${address} has no key that could sign: give the address of a new key`, { param })
  }
  const { chain } = context
  await readAccountKinds(chain, [address], { commitment: 'confirmed' }, (account) => {
    if (account !== null)
      throw badRequest(`${param}: an account exists at ${address} already: give the address of a new key`, { param })
  })
  return { address, secretKey: new Uint8Array() }
}

/** Reads one token from the chain, whoever created it. */
export async function getToken(context: Context, { mint }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  const token = await readTokenState(context.chain, mint)
  return { mint, status: tokenStatus(token), raw: (await readProviderAssetOrNull(context, mint)) ?? rawTokenOf(token) }
}

/**
 * Returns null without a provider, when it does not know the token, and when it fails. The chain's own data is then
 * used.
 */
async function readProviderAssetOrNull({ config, log, ending }: Context, mint: string): Promise<unknown> {
  const url = config.values['metadata-url']
  if (url === undefined) return null
  try {
    return await readProviderAsset(url, mint, { ending })
  } catch (error) {
    log.warn({ err: error, mint }, 'the metadata provider failed')
    return null
  }
}

export const listTokens = listOf<Routes['list'], Row<'tokens'>>(pageTokens, tokenRecord)
