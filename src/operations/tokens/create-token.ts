/** Builds the creation of a token: mint, metadata, supply and revocations in one transaction. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import { buildTokenCreation, mintBytes } from '../../chain/programs/tokens/index.ts'
import { requireProgram } from '../../chain/required-program.ts'
import { readLatestBlockhash, rentFor } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { PROGRAMS } from '../../solana/programs.ts'

type CreateTokenRoute = Api['tokens']['create']

/** Half more than the costliest creation was measured at (54,514 and 31,065), as finding addresses varies by mint. */
const FALLBACK_UNITS = { spl: 85_000, token2022: 50_000 } as const

export async function createToken(
  { chain, config }: Context,
  input: Input<CreateTokenRoute>,
): Promise<Result<CreateTokenRoute>> {
  const { payer, name, symbol, decimals, uri, token_program: tokenProgram } = input
  if (tokenProgram === 'spl') await requireProgram(chain, PROGRAMS.tokenMetadata)
  const connection = await chain.connection()
  const { Keypair } = await import('@solana/web3.js')
  const mintKey = Keypair.generate()
  const mint = mintKey.publicKey.toBase58()
  const [recentBlockhash, rent] = await Promise.all([
    readLatestBlockhash(connection),
    rentFor(connection, await mintBytes({ tokenProgram, name, symbol, uri })),
  ])
  const creation = {
    payer,
    mint,
    name,
    symbol,
    decimals,
    uri,
    tokenProgram,
    rent,
    recentBlockhash,
    initialSupply: BigInt(input.initial_supply),
    revokeMintAuthority: input.revoke_mint_authority,
    revokeFreezeAuthority: input.revoke_freeze_authority,
  }
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (before) => buildTokenCreation({ ...creation, before }),
    FALLBACK_UNITS[tokenProgram],
  )
  return {
    mode: 'unsigned',
    transaction: Buffer.from(transaction).toString('base64'),
    requiredSigners,
    mint,
    required_signers: { mint_secret_key: [...mintKey.secretKey] },
    tracked_resource: {
      resource_type: 'token',
      resource_id: mint,
      related_events: [
        'token.created',
        ...(input.revoke_mint_authority ? (['token.mint_authority_revoked'] as const) : []),
        ...(input.revoke_freeze_authority ? (['token.freeze_authority_revoked'] as const) : []),
      ],
    },
  }
}
