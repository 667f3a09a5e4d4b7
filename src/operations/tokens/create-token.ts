/** Builds the creation of a token, with mint, metadata, supply and revocations in one transaction. */

import { extensionMeanings } from '../../api/extension-meanings.ts'
import type { Api } from '../../api/index.ts'
import { uriWarnings } from '../../api/uris.ts'
import { buildTokenCreation, mintBytes } from '../../chain/programs/tokens/index.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { unsignedAct } from '../act.ts'
import { trackingOf } from '../building.ts'
import { generatedKeysField } from '../transactions/generated-keys.ts'
import { checkExtensions } from './authorities.ts'
import { mintKeyFor } from './mint-key.ts'

type CreateTokenRoute = Api['tokens']['create']

/** One and a half times the measured costs of the most expensive creations (54,514 and 31,065 units). */
const CREATE_TOKEN_UNITS = { spl: 85_000, token2022: 50_000 } as const
/** More than all extensions cost together. */
const EXTENSION_UNITS = 25_000

export const createToken = unsignedAct<CreateTokenRoute>(async (context, input) => {
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
