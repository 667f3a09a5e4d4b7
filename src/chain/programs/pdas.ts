/** Derives addresses of programs from their seeds, without a request to the chain. */
import type { Pda, PdaKind, PdaRequest } from '../../api/pdas.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { utf8 } from '../../solana/bytes.ts'
import { deriveAddress } from '../../solana/program-addresses.ts'
import { ASSOCIATED_TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { metadataSeeds } from '../../solana/programs/token-metadata.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { tokenProgramOf } from '../../solana/token-programs.ts'

type ArgsOf<K extends PdaKind> = Extract<PdaRequest, { kind: K }>['args']
type Derivation = [program: string, ...seeds: Uint8Array[]]

const SEEDS: { [K in PdaKind]: (args: ArgsOf<K>) => Derivation } = {
  ata: ({ owner, mint, token_program }) => [
    ASSOCIATED_TOKEN_PROGRAM,
    ...[owner, tokenProgramOf(token_program), mint].map(addressBytes),
  ],
  metadata: ({ mint }) => [PROGRAMS.tokenMetadata.id, ...metadataSeeds(mint)],
  dbc_pool: (args) => [PROGRAMS.dbc.id, ...poolSeeds(args)],
  damm_v2_pool: (args) => [PROGRAMS.dammV2.id, ...poolSeeds(args)],
  merkle_distributor: ({ mint, airdrop_count }) => {
    const version = Buffer.alloc(8)
    version.writeBigUInt64LE(BigInt(airdrop_count))
    return [PROGRAMS.distributor.id, utf8('MerkleDistributor'), addressBytes(mint), version]
  },
  claim_status: ({ claimer, ...tree }) =>
    claimStatus(deriveProgramAddress('merkle_distributor', tree).address, claimer),
  gold_lock: ({ user }) => [PROGRAMS.lock.id, utf8('escrow'), addressBytes(user)],
}

/** Returns the address of a kind, and the bump that moves it off the curve. */
export function deriveProgramAddress<K extends PdaKind>(kind: K, args: ArgsOf<K>): Pda {
  const [program_id, ...seeds] = SEEDS[kind](args)
  return { kind, ...deriveAddress(program_id, ...seeds), program_id }
}

/** Returns the same address as `claim_status` for a known distributor address. */
export const claimStatusAddress = (distributor: string, claimer: string): string =>
  deriveAddress(...claimStatus(distributor, claimer)).address

const claimStatus = (distributor: string, claimer: string): Derivation => [
  PROGRAMS.distributor.id,
  utf8('ClaimStatus'),
  ...[claimer, distributor].map(addressBytes),
]

/** The seeds of Meteora's pools have the greater mint first, whichever is base and quote. */
function poolSeeds({ config, base_mint, quote_mint }: ArgsOf<'dbc_pool' | 'damm_v2_pool'>): Uint8Array[] {
  const mints = [base_mint, quote_mint].map(addressBytes).sort((a, b) => Buffer.compare(b, a))
  return [utf8('pool'), addressBytes(config), ...mints]
}
