/** Derives addresses of programs from their seeds, without a request to the chain. */
import type { PublicKey } from '@solana/web3.js'
import type { Pda, PdaKind, PdaRequest } from '../../api/pdas.ts'
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { metadataSeeds } from '../../solana/programs/token-metadata.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { openDeriver } from './derived-addresses.ts'

const TOKEN_PROGRAMS = { spl: TOKEN_PROGRAM, token2022: TOKEN_2022_PROGRAM } as const

type PdaKey = (address: string) => Buffer
type ArgsOf<K extends PdaKind> = Extract<PdaRequest, { kind: K }>['args']
type Seeds = { [K in PdaKind]: (args: ArgsOf<K>, key: PdaKey, derive: Derive) => Derivation }
type Derive = (derivation: Derivation) => readonly [PublicKey, number]

interface Derivation {
  programId: string
  seeds: Uint8Array[]
}

const SEEDS: Seeds = {
  ata: ({ owner, mint, token_program }, key) => ({
    programId: ASSOCIATED_TOKEN_PROGRAM,
    seeds: [key(owner), key(TOKEN_PROGRAMS[token_program]), key(mint)],
  }),
  metadata: ({ mint }) => ({ programId: PROGRAMS.tokenMetadata.id, seeds: metadataSeeds(mint) }),
  dbc_pool: (args, key) => ({ programId: PROGRAMS.dbc.id, seeds: poolSeeds(args, key) }),
  damm_v2_pool: (args, key) => ({ programId: PROGRAMS.dammV2.id, seeds: poolSeeds(args, key) }),
  merkle_distributor: (args, key) => distributor(args, key),
  claim_status: ({ claimer, ...tree }, key, derive) =>
    claimStatus(key(claimer), derive(distributor(tree, key))[0].toBuffer()),
  gold_lock: ({ user }, key) => ({ programId: PROGRAMS.lock.id, seeds: [Buffer.from('escrow'), key(user)] }),
}

/** Returns the address of a kind, and the bump that moves it off the curve. */
export async function deriveProgramAddress<K extends PdaKind>(kind: K, args: ArgsOf<K>): Promise<Pda> {
  const { key, derive } = await derivers()
  const derivation = SEEDS[kind](args, key, derive)
  const [address, bump] = derive(derivation)
  return { kind, address: address.toBase58(), bump, program_id: derivation.programId }
}

/** Returns the same address as `claim_status` for a known distributor address. */
export async function claimStatusAddress(distributor: string, claimer: string): Promise<string> {
  const { key, derive } = await derivers()
  return derive(claimStatus(key(claimer), key(distributor)))[0].toBase58()
}

async function derivers(): Promise<{ key: PdaKey; derive: Derive }> {
  const [{ PublicKey }, { find }] = await Promise.all([import('@solana/web3.js'), openDeriver()])
  return {
    key: (address) => new PublicKey(address).toBuffer(),
    derive: ({ programId, seeds }) => find(seeds, new PublicKey(programId)),
  }
}

const claimStatus = (claimer: Buffer, distributor: Buffer): Derivation => ({
  programId: PROGRAMS.distributor.id,
  seeds: [Buffer.from('ClaimStatus'), claimer, distributor],
})

/** The seeds of Meteora's pools have the greater mint first, whichever is base and quote. */
function poolSeeds({ config, base_mint, quote_mint }: ArgsOf<'dbc_pool' | 'damm_v2_pool'>, key: PdaKey): Uint8Array[] {
  const mints = [key(base_mint), key(quote_mint)].sort((a, b) => b.compare(a))
  return [Buffer.from('pool'), key(config), ...mints]
}

/** The distributor's version is `airdrop_count`. */
function distributor({ mint, airdrop_count }: ArgsOf<'merkle_distributor'>, key: PdaKey): Derivation {
  const version = Buffer.alloc(8)
  version.writeBigUInt64LE(BigInt(airdrop_count))
  return { programId: PROGRAMS.distributor.id, seeds: [Buffer.from('MerkleDistributor'), key(mint), version] }
}
