/** A launch curve that strangers' clients made, with everything that can be claimed: Meteora's own SDK on an embedded chain. */
import { CpAmm } from '@meteora-ag/cp-amm-sdk'
import * as dbc from '@meteora-ag/dynamic-bonding-curve-sdk'
import * as spl from '@solana/spl-token'
import { type Connection, Keypair, PublicKey, Transaction, TransactionInstruction } from '@solana/web3.js'
import BN from 'bn.js'
import { deriveProgramAddress } from '../../src/chain/programs/pdas.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { MEMO_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { signFresh } from '../../src/solana/signatures.ts'
import { SOL } from './local-chain.ts'

/** Creator 37 % of the fees and 33 % of the migration fee of 5 %, tokens vested over ten days, a creation fee. */
const PARAMETERS = () =>
  dbc.buildCurveWithMarketCap({
    token: {
      tokenType: dbc.TokenType.SPLToken,
      tokenBaseDecimal: 6,
      tokenQuoteDecimal: 9,
      tokenAuthorityOption: dbc.TokenAuthorityOption.Immutable,
      totalTokenSupply: 1_000_000,
      leftover: 1000,
    },
    fee: {
      baseFeeParams: {
        baseFeeMode: dbc.BaseFeeMode.FeeSchedulerLinear,
        feeSchedulerParam: { startingFeeBps: 200, endingFeeBps: 200, numberOfPeriod: 0, totalDuration: 0 },
      },
      dynamicFeeEnabled: false,
      collectFeeMode: dbc.CollectFeeMode.QuoteToken,
      creatorTradingFeePercentage: 37,
      poolCreationFee: 0.01,
      enableFirstSwapWithMinFee: false,
    },
    migration: {
      migrationOption: dbc.MigrationOption.MET_DAMM_V2,
      migrationFeeOption: dbc.MigrationFeeOption.FixedBps100,
      migrationFee: { feePercentage: 5, creatorFeePercentage: 33 },
    },
    liquidityDistribution: {
      partnerPermanentLockedLiquidityPercentage: 50,
      partnerLiquidityPercentage: 0,
      creatorPermanentLockedLiquidityPercentage: 50,
      creatorLiquidityPercentage: 0,
    },
    lockedVesting: {
      totalLockedVestingAmount: 100_000,
      numberOfVestingPeriod: 10,
      cliffUnlockAmount: 0,
      totalVestingDuration: 864_000,
      cliffDurationFromMigrationTime: 0,
    },
    activationType: dbc.ActivationType.Timestamp,
    initialMarketCap: 1,
    migrationMarketCap: 3,
  } as never)

/** The program pays the accounts of the pools that it migrates to from this wallet. */
const DBC_AUTHORITY = 'FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM'
const EVERYTHING = new BN('18446744073709551615')

export interface CurveParties {
  partner: Keypair
  creator: Keypair
  trader: Keypair
}

let connected: Connection
let clients: { client: dbc.DynamicBondingCurveClient; amm: CpAmm } | undefined

/** The SDKs' clients, which take longer to make than a curve: one of each for all curves, of which one at a time is open. */
function clientsOver(connection: Connection) {
  connected = connection
  if (clients === undefined) {
    const latest = new Proxy(connection, { get: (_, name) => boundTo(connected, name as keyof Connection) })
    clients = { client: new dbc.DynamicBondingCurveClient(latest, 'processed'), amm: new CpAmm(latest) }
  }
  return clients
}

function boundTo(connection: Connection, name: keyof Connection): unknown {
  const value: unknown = connection[name]
  return typeof value === 'function' ? value.bind(connection) : value
}

export type ForeignCurve = Awaited<ReturnType<typeof openForeignCurve>>

/** Launches over a connection to the chain. What it answers are transactions; `land` signs and sends them. */
export async function openForeignCurve(
  chain: LocalChain,
  connection: Connection,
  { partner, creator, trader }: CurveParties,
) {
  chain.airdrop(DBC_AUTHORITY, SOL)
  const { client, amm } = clientsOver(connection)
  const [config, mint] = [Keypair.generate(), Keypair.generate()]
  const land = (made: Transaction | TransactionInstruction[], ...signers: Keypair[]) => {
    const transaction = Array.isArray(made) ? new Transaction().add(...made) : made
    transaction.feePayer = signers[0]!.publicKey
    transaction.recentBlockhash = chain.latestBlockhash().blockhash
    const message = transaction.serializeMessage()
    for (const { publicKey, secretKey } of signers) {
      transaction.addSignature(publicKey, Buffer.from(signFresh(secretKey, message)))
    }
    // The chain itself verifies the signatures.
    const landed = chain.send(transaction.serialize({ verifySignatures: false }))
    if (landed.err !== null) throw new Error(landed.logs?.join('\n'))
    chain.advance(1)
    return landed
  }
  const curve = PARAMETERS()
  const receivers = { feeClaimer: partner.publicKey, leftoverReceiver: partner.publicKey }
  const made = {
    payer: creator.publicKey,
    config: config.publicKey,
    ...receivers,
    quoteMint: spl.NATIVE_MINT,
    ...curve,
  }
  land(await client.partner.createConfig(made as never), creator, config)
  const pool = dbc.deriveDbcPoolAddress(spl.NATIVE_MINT, mint.publicKey, config.publicKey)
  const launch = { name: 'Coin', symbol: 'COIN', uri: 'https://example.com/coin.json', baseMint: mint.publicKey }
  const parties = { poolCreator: creator.publicKey, payer: creator.publicKey, config: config.publicKey }
  land(await client.creator.createPool({ ...launch, ...parties }), creator, mint)
  const dammPool = dbc.deriveDammV2PoolAddress(dbc.DAMM_V2_MIGRATION_FEE_ADDRESS[2]!, mint.publicKey, spl.NATIVE_MINT)
  const common = async () => {
    const { tokenAMint, tokenBMint, tokenAVault, tokenBVault } = await amm.fetchPoolState(dammPool)
    const programs = { tokenAProgram: spl.TOKEN_PROGRAM_ID, tokenBProgram: spl.TOKEN_PROGRAM_ID }
    return { pool: dammPool, tokenAMint, tokenBMint, tokenAVault, tokenBVault, ...programs }
  }
  const base = dbc.deriveBaseKeyForLocker(pool)
  const escrow = new PublicKey((await deriveProgramAddress('gold_lock', { user: base.toBase58() })).address)
  const tokens = (owner: PublicKey) => spl.getAssociatedTokenAddressSync(mint.publicKey, owner, true)
  return {
    client,
    amm,
    config: config.publicKey.toBase58(),
    mint: mint.publicKey,
    pool: pool.toBase58(),
    dammPool: dammPool.toBase58(),
    escrow: escrow.toBase58(),
    land,
    state: async () => (await client.state.getPool(pool))!.poolState,
    tokens,
    trade: async (lamports: bigint, swapBaseForQuote = false, referral: PublicKey | null = null) =>
      land(
        await client.pool.swap2({
          owner: trader.publicKey,
          pool,
          swapBaseForQuote,
          referralTokenAccount: referral,
          swapMode: 1,
          amountIn: new BN(lamports.toString()),
          minimumAmountOut: new BN(0),
        } as never),
        trader,
      ),
    /** Locks the vested tokens, and makes the pool of DAMM v2. */
    async migrate() {
      const payer = trader.publicKey
      const locker = await client.migration.createLocker({ virtualPool: pool, pool, payer } as never)
      land(locker, trader)
      const dammConfig = dbc.DAMM_V2_MIGRATION_FEE_ADDRESS[2]
      const migration = await client.migration.migrateToDammV2({ payer, pool, dammConfig } as never)
      land(migration.transaction, trader, migration.firstPositionNftKeypair, migration.secondPositionNftKeypair)
    },
    tradeMigrated: async (lamports: bigint) =>
      land(
        await amm.swap({
          ...(await common()),
          payer: trader.publicKey,
          inputTokenMint: spl.NATIVE_MINT,
          outputTokenMint: mint.publicKey,
          amountIn: new BN(lamports.toString()),
          minimumAmountOut: new BN(0),
          referralTokenAccount: null,
          poolState: await amm.fetchPoolState(dammPool),
        } as never),
        trader,
      ),
    claims: {
      partnerFees: (most = EVERYTHING) =>
        client.partner.claimPartnerTradingFee({
          feeClaimer: partner.publicKey,
          payer: partner.publicKey,
          pool,
          maxBaseAmount: new BN(0),
          maxQuoteAmount: most,
        }),
      creatorFees: (most = EVERYTHING, owner = creator) =>
        client.creator.claimCreatorTradingFee({
          creator: owner.publicKey,
          payer: owner.publicKey,
          pool,
          maxBaseAmount: new BN(0),
          maxQuoteAmount: most,
        }),
      partnerSurplus: () => client.partner.partnerWithdrawSurplus({ feeClaimer: partner.publicKey, pool } as never),
      creatorSurplus: () => client.creator.creatorWithdrawSurplus({ creator: creator.publicKey, pool } as never),
      partnerMigrationFee: () =>
        client.partner.partnerWithdrawMigrationFee({ pool, sender: partner.publicKey } as never),
      creatorMigrationFee: () =>
        client.creator.creatorWithdrawMigrationFee({ pool, sender: creator.publicKey } as never),
      leftover: () => client.migration.withdrawLeftover({ pool, payer: trader.publicKey } as never),
      creationFee: () => client.partner.claimPartnerPoolCreationFee({ pool, feeReceiver: partner.publicKey }),
      positions: async (owner: Keypair) => {
        const [position] = await amm.getUserPositionByPool(dammPool, owner.publicKey)
        return amm.claimPositionFee({
          ...(await common()),
          owner: owner.publicKey,
          position: position!.position,
          positionNftAccount: position!.positionNftAccount,
        } as never)
      },
      vested: () => [
        openTokens(creator, mint.publicKey, tokens(creator.publicKey)),
        claimVested(escrow, mint.publicKey, creator.publicKey),
      ],
    },
  }
}

const openTokens = (owner: Keypair, mint: PublicKey, account: PublicKey) =>
  spl.createAssociatedTokenAccountIdempotentInstruction(owner.publicKey, account, owner.publicKey, mint)

/** The instruction `claim_v2` of Jupiter Lock, by its IDL. */
function claimVested(escrow: PublicKey, mint: PublicKey, recipient: PublicKey): TransactionInstruction {
  const programId = new PublicKey(PROGRAMS.lock.id)
  const [eventAuthority] = PublicKey.findProgramAddressSync([Buffer.from('__event_authority')], programId)
  const tokens = (owner: PublicKey) => spl.getAssociatedTokenAddressSync(mint, owner, true)
  const key = (pubkey: PublicKey, isWritable = false, isSigner = false) => ({ pubkey, isSigner, isWritable })
  return new TransactionInstruction({
    programId,
    keys: [
      key(escrow, true),
      key(mint),
      key(tokens(escrow), true),
      key(recipient, true, true),
      key(tokens(recipient), true),
      key(new PublicKey(MEMO_PROGRAM)),
      key(spl.TOKEN_PROGRAM_ID),
      key(eventAuthority),
      key(programId),
    ],
    data: Buffer.concat([Buffer.from('e5572ea2159de772', 'hex'), Buffer.alloc(8, 0xff), Buffer.of(0)]),
  })
}
