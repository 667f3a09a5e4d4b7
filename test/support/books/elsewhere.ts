/** Claims as other clients make them, by the SDKs alone, and those of Meteora, whose keys a local build of the program takes from anybody. */
import { createHash } from 'node:crypto'
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as dbc from '@meteora-ag/dynamic-bonding-curve-sdk'
import * as spl from '@solana/spl-token'
import { type Connection, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import BN from 'bn.js'
import type { Beneficiary, FeeClaimKind } from '../../../src/api/fee-claims.ts'
import type { LocalChain } from '../../../src/localnet/types.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { u64 } from '../little-endian.ts'
import { type CurveState, escrowOf } from './curve-state.ts'

const MOST = new BN(2).pow(new BN(64)).subn(1)
/** Where the program pays Meteora's part of a pool's creation fee, and whose token accounts it takes. */
export const TREASURY = new PublicKey('6aYhxiNGmG8AyU25rh2R7iFu4pBrqnQHpNUGhmsEXRcm')
const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const LOCK = new PublicKey(PROGRAMS.lock.id)
const DBC = dbc.DYNAMIC_BONDING_CURVE_PROGRAM_ID

const discriminator = (name: string) => createHash('sha256').update(name).digest().subarray(0, 8)

type CurveKind = Exclude<FeeClaimKind, 'damm_v2'>

/** The instructions of a claim that its claimer pays. */
export async function claimElsewhere(
  connection: Connection,
  chain: LocalChain,
  { address, baseMint }: Pick<CurveState, 'address' | 'baseMint'>,
  { kind, as, claimer }: { kind: CurveKind; as: Beneficiary; claimer: PublicKey },
): Promise<TransactionInstruction[]> {
  const { partner, creator, migration } = new dbc.DynamicBondingCurveClient(connection, 'confirmed')
  const pool = new PublicKey(address)
  const most = { pool, payer: claimer, maxBaseAmount: MOST, maxQuoteAmount: MOST }
  const of: Record<CurveKind, () => Promise<{ instructions: TransactionInstruction[] }>> = {
    dbc: () =>
      as === 'creator'
        ? creator.claimCreatorTradingFee({ creator: claimer, ...most })
        : partner.claimPartnerTradingFee({ feeClaimer: claimer, ...most }),
    surplus: () =>
      as === 'creator'
        ? creator.creatorWithdrawSurplus({ creator: claimer, pool })
        : partner.partnerWithdrawSurplus({ feeClaimer: claimer, pool }),
    migration_fee: () =>
      as === 'creator'
        ? creator.creatorWithdrawMigrationFee({ sender: claimer, pool })
        : partner.partnerWithdrawMigrationFee({ sender: claimer, pool }),
    leftover: () => migration.withdrawLeftover({ pool, payer: claimer }),
    pool_creation_fee: () => partner.claimPartnerPoolCreationFee({ pool, feeReceiver: claimer }),
    vesting: async () => ({ instructions: vestingClaim(chain, pool, new PublicKey(baseMint), claimer) }),
  }
  return (await of[kind]()).instructions
}

/** Locker's claim_v2, of all that is vested. */
function vestingClaim(
  chain: LocalChain,
  pool: PublicKey,
  mint: PublicKey,
  claimer: PublicKey,
): TransactionInstruction[] {
  const escrow = escrowOf(pool.toBase58())
  const program = new PublicKey(chain.account(mint.toBase58())!.owner)
  const account = (owner: PublicKey) => spl.getAssociatedTokenAddressSync(mint, owner, true, program)
  const [events] = PublicKey.findProgramAddressSync([Buffer.from('__event_authority')], LOCK)
  const key = (pubkey: PublicKey, isWritable = false, isSigner = false) => ({ pubkey, isWritable, isSigner })
  const keys = [
    key(escrow, true),
    key(mint),
    key(account(escrow), true),
    key(claimer, true, true),
    key(account(claimer), true),
    ...[MEMO, program, events, LOCK].map((each) => key(each)),
  ]
  const data = Buffer.concat([discriminator('global:claim_v2'), u64(2n ** 64n - 1n), Buffer.from([0])])
  return [
    spl.createAssociatedTokenAccountIdempotentInstruction(claimer, account(claimer), claimer, mint, program),
    { programId: LOCK, keys, data } as TransactionInstruction,
  ]
}

export interface OwnPosition {
  position: PublicKey
  positionNftAccount: PublicKey
  feeA: bigint
  feeB: bigint
}

/** What a wallet's positions would pay now. */
export async function positionsElsewhere(
  connection: Connection,
  pool: string,
  owner: PublicKey,
): Promise<{ state: cpAmm.PoolState; positions: OwnPosition[] }> {
  const client = new cpAmm.CpAmm(connection)
  const state = await client.fetchPoolState(new PublicKey(pool))
  const held = await client.getUserPositionByPool(new PublicKey(pool), owner)
  const positions = held.map(({ position, positionNftAccount, positionState }) => {
    const { feeTokenA, feeTokenB } = cpAmm.getUnClaimLpFee(state, positionState)
    return { position, positionNftAccount, feeA: BigInt(feeTokenA.toString()), feeB: BigInt(feeTokenB.toString()) }
  })
  return { state, positions }
}

export async function positionClaimsElsewhere(
  connection: Connection,
  pool: string,
  owner: PublicKey,
): Promise<TransactionInstruction[]> {
  const { state, positions } = await positionsElsewhere(connection, pool, owner)
  const program = (flag: number) => (flag === 0 ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID)
  const made = positions.map(({ position, positionNftAccount }) =>
    new cpAmm.CpAmm(connection).claimPositionFee({
      owner,
      position,
      positionNftAccount,
      pool: new PublicKey(pool),
      tokenAMint: state.tokenAMint,
      tokenBMint: state.tokenBMint,
      tokenAVault: state.tokenAVault,
      tokenBVault: state.tokenBVault,
      tokenAProgram: program(state.tokenAFlag),
      tokenBProgram: program(state.tokenBFlag),
    }),
  )
  return (await Promise.all(made)).flatMap(({ instructions }) => instructions)
}

/** An operator's account as Meteora's admin makes it, with every permission. */
export function appointOperator(chain: LocalChain, operator: PublicKey): PublicKey {
  const [address] = PublicKey.findProgramAddressSync([Buffer.from('operator'), operator.toBuffer()], DBC)
  const permissions = Buffer.alloc(16)
  permissions.writeBigUInt64LE(2n ** 64n - 1n)
  const data = Buffer.concat([discriminator('account:Operator'), operator.toBuffer(), permissions, Buffer.alloc(16)])
  const lamports = chain.minimumBalance(data.length)
  chain.setAccount(address.toBase58(), { lamports, owner: DBC.toBase58(), data, executable: false })
  return address
}

/** Takes everything that the curve has for Meteora, into the treasury's token accounts; its part of a creation fee too. */
export function protocolClaims(
  chain: LocalChain,
  state: CurveState,
  operator: { wallet: PublicKey; account: PublicKey },
  { withCreationFee }: { withCreationFee: boolean },
): TransactionInstruction[] {
  const [base, quote] = [new PublicKey(state.baseMint), new PublicKey(state.quoteMint)]
  const programOf = (mint: PublicKey) => new PublicKey(chain.account(mint.toBase58())!.owner)
  const account = (mint: PublicKey) => spl.getAssociatedTokenAddressSync(mint, TREASURY, true, programOf(mint))
  const opened = [base, quote].map((mint) =>
    spl.createAssociatedTokenAccountIdempotentInstruction(
      operator.wallet,
      account(mint),
      TREASURY,
      mint,
      programOf(mint),
    ),
  )
  const key = (pubkey: PublicKey | string, isWritable = false, isSigner = false) => ({
    pubkey: new PublicKey(pubkey),
    isWritable,
    isSigner,
  })
  const events = dbc.deriveDbcEventAuthority()
  const keys = [
    key(dbc.deriveDbcPoolAuthority()),
    key(state.config),
    key(state.address, true),
    key(state.vaultAddresses.base, true),
    key(state.vaultAddresses.quote, true),
    key(base),
    key(quote),
    key(account(base), true),
    key(account(quote), true),
    key(operator.account),
    key(operator.wallet, false, true),
    key(programOf(base)),
    key(programOf(quote)),
    key(events),
    key(DBC),
  ]
  const most = u64(2n ** 64n - 1n)
  const fees = { programId: DBC, keys, data: Buffer.concat([discriminator('global:claim_protocol_fee'), most, most]) }
  if (!withCreationFee) return [...opened, fees as TransactionInstruction]
  const creationKeys = [
    key(state.config),
    key(state.address, true),
    key(operator.account),
    key(operator.wallet, false, true),
    key(TREASURY, true),
    key(events),
    key(DBC),
  ]
  const data = discriminator('global:claim_protocol_pool_creation_fee')
  return [...opened, fees, { programId: DBC, keys: creationKeys, data }] as TransactionInstruction[]
}
