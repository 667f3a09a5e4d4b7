/** Tokens beside spl-token; their metadata by hand, as no SDK of Metaplex for it speaks web3.js here. */
import * as spl from '@solana/spl-token'
import { type Connection, Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { createToken } from '../../src/operations/tokens/create-token.ts'
import { revokeAuthority } from '../../src/operations/tokens/revoke-authority.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { BuildKind } from './floor.ts'
import { type Stage, UNSIGNED } from './stage.ts'

const TOKEN = { name: 'Bench Token', symbol: 'BENCH', uri: 'https://example.com/token.json' }
const SUPPLY = 1_000_000n
const DECIMALS = 6
const CREATE_METADATA_ACCOUNT_V3 = 33

export async function tokenKinds(stage: Stage): Promise<BuildKind[]> {
  const { context, real, connection, user } = stage
  const input = {
    ...TOKEN,
    ...UNSIGNED,
    payer: user.publicKey.toBase58(),
    decimals: DECIMALS,
    token_program: 'spl' as const,
    initial_supply: String(SUPPLY),
    revoke_mint_authority: false,
    revoke_freeze_authority: true,
  }
  const landed = await createToken(real, input)
  stage.land(landed.transaction, [Keypair.fromSecretKey(Uint8Array.from(landed.required_signers.mint_secret_key))])
  const mint = new PublicKey(landed.mint)
  return [
    {
      name: 'token, spl',
      sdk: 'spl-token',
      hasTrial: true,
      build: () => createToken(context, input),
      async call() {
        const key = Keypair.generate().publicKey
        const instructions = await tokenInstructions(connection, user.publicKey, key, { ...TOKEN, supply: SUPPLY })
        return [{ payer: user.publicKey, instructions }]
      },
    },
    {
      name: 'revocation of the mint authority',
      sdk: 'spl-token',
      hasTrial: true,
      build: () => revokeAuthority(context, { ...UNSIGNED, mint: landed.mint, type: 'mint', payer: input.payer }),
      async call() {
        await spl.getMint(connection, mint)
        const type = spl.AuthorityType.MintTokens
        return [
          {
            payer: user.publicKey,
            instructions: [spl.createSetAuthorityInstruction(mint, user.publicKey, type, null)],
          },
        ]
      },
    },
  ]
}

interface TokenTexts {
  name: string
  symbol: string
  uri: string
  supply: bigint
}

/** Mint, metadata and the whole supply, by spl-token. */
export async function tokenInstructions(
  connection: Connection,
  payer: PublicKey,
  mint: PublicKey,
  { supply, ...texts }: TokenTexts,
): Promise<TransactionInstruction[]> {
  const account = spl.getAssociatedTokenAddressSync(mint, payer)
  return [
    SystemProgram.createAccount({
      fromPubkey: payer,
      newAccountPubkey: mint,
      space: spl.MINT_SIZE,
      lamports: await spl.getMinimumBalanceForRentExemptMint(connection),
      programId: spl.TOKEN_PROGRAM_ID,
    }),
    spl.createInitializeMint2Instruction(mint, DECIMALS, payer, null),
    metadataInstruction(mint, payer, texts),
    spl.createAssociatedTokenAccountIdempotentInstruction(payer, account, payer, mint),
    spl.createMintToInstruction(mint, account, payer, supply),
  ]
}

function metadataInstruction(
  mint: PublicKey,
  payer: PublicKey,
  { name, symbol, uri }: Omit<TokenTexts, 'supply'>,
): TransactionInstruction {
  const programId = new PublicKey(PROGRAMS.tokenMetadata.id)
  const seeds = [Buffer.from('metadata'), programId.toBuffer(), mint.toBuffer()]
  const text = (value: string) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(Buffer.byteLength(value))
    return Buffer.concat([length, Buffer.from(value)])
  }
  const account = (pubkey: PublicKey, isSigner: boolean, isWritable: boolean) => ({ pubkey, isSigner, isWritable })
  return new TransactionInstruction({
    programId,
    keys: [
      account(PublicKey.findProgramAddressSync(seeds, programId)[0], false, true),
      account(mint, false, false),
      account(payer, true, false),
      account(payer, true, true),
      account(payer, false, false),
      account(SystemProgram.programId, false, false),
    ],
    data: Buffer.concat([
      Buffer.of(CREATE_METADATA_ACCOUNT_V3),
      text(name),
      text(symbol),
      text(uri),
      Buffer.of(0, 0, 0, 0, 0, 1, 0),
    ]),
  })
}
