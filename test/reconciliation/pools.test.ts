/** Meteora's own SDKs, past the service: trades, fee claims, a migration and a claim from the pool that came of it. */
import { CpAmm } from '@meteora-ag/cp-amm-sdk'
import { DAMM_V2_MIGRATION_FEE_ADDRESS, DynamicBondingCurveClient } from '@meteora-ag/dynamic-bonding-curve-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, type Transaction } from '@solana/web3.js'
import BN from 'bn.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildTradingFeeClaim, readDbcPool } from '../../src/chain/programs/dbc/index.ts'
import { cosignedBy } from '../../src/chain/sending/cosign.ts'
import { SOL } from '../support/local-chain.ts'
import { embeddedNode } from '../support/node.ts'
import {
  addressOf,
  type ChainAndNode,
  IMAGE,
  lackingPrograms,
  openChainAndNode,
  openPlatform,
} from '../support/pool-platform.ts'
import { keypairOf, signWith } from '../support/wallets.ts'
import { actsOn, WAYS, type Way } from './acts.ts'

describe.skipIf(lackingPrograms.length > 0)(`pools (${lackingPrograms.join(', ')})`, () => {
  let base: ChainAndNode
  beforeEach(async () => {
    base = await openChainAndNode()
  })
  afterEach(() => base.close())

  async function told(way: Way): Promise<string[]> {
    const platform = await openPlatform(base, { settings: { 'pools.crank': false } })
    const { services, request } = platform
    const local = async () => base.chain
    const acts = await actsOn(
      { request, services: { ...services, chain: { ...services.chain, local } }, clock: base.clock },
      way,
    )
    const [creator, trader] = [Keypair.generate(), Keypair.generate()]
    for (const key of [creator, trader]) base.chain.airdrop(addressOf(key), 1_000n * SOL)
    const made = await request('POST', '/v2/pools', {
      body: { creator: addressOf(creator), name: 'A token', symbol: way.toUpperCase(), image: IMAGE },
    })
    expect(made.status, made.text).toBe(201)
    const { pool, transactions, required_signers } = made.json.data
    const keys = [required_signers.base_mint_secret_key, required_signers.config_secret_key].map(keypairOf)
    for (const text of transactions) await acts.submit(Buffer.from(signWith(text, [creator, ...keys]), 'base64'))
    await acts.settle(2)

    const connection = embeddedNode(base.chain)
    const send = async (transaction: Transaction, ...signers: Keypair[]) => {
      transaction.feePayer = signers[0]!.publicKey
      transaction.recentBlockhash = base.chain.latestBlockhash().blockhash
      transaction.sign(...signers)
      await acts.send(transaction.serialize())
    }
    const curve = new DynamicBondingCurveClient(connection, 'processed')
    const address = new PublicKey(pool.address)
    const trade = (lamports: bigint) =>
      curve.pool.swap2({
        owner: trader.publicKey,
        pool: address,
        swapBaseForQuote: false,
        referralTokenAccount: null,
        swapMode: 1,
        amountIn: new BN(lamports.toString()),
        minimumAmountOut: new BN(0),
      } as never)
    await send(await trade(SOL / 10n), trader)
    const claim = () =>
      curve.partner.claimPartnerTradingFee({
        feeClaimer: base.wallet.publicKey,
        payer: base.wallet.publicKey,
        pool: address,
        maxBaseAmount: new BN(0),
        maxQuoteAmount: new BN('18446744073709551615'),
      })
    await send(await claim(), base.wallet)
    await send(await trade(5n * SOL), trader)
    const split = await buildTradingFeeClaim({
      pool: (await readDbcPool(connection, pool.address))!,
      beneficiary: 'partner',
      claimer: addressOf(base.wallet),
      payer: addressOf(base.wallet),
      amount: 1_000n,
      splits: [creator, trader].map((key, n) => ({ recipient: addressOf(key), amount: 400n + 200n * BigInt(n) })),
      recentBlockhash: base.chain.latestBlockhash().blockhash,
    })
    await acts.send(cosignedBy(split.transaction, [base.wallet.secretKey]).transaction)
    await acts.settle(1)
    const { migrationFeeOption } = (await readDbcPool(connection, pool.address))!
    const dammConfig = DAMM_V2_MIGRATION_FEE_ADDRESS[migrationFeeOption as 0]
    const migration = await curve.migration.migrateToDammV2({
      payer: trader.publicKey,
      pool: address,
      dammConfig,
    } as never)
    await send(migration.transaction, trader, migration.firstPositionNftKeypair, migration.secondPositionNftKeypair)
    await acts.settle(2)
    const damm = (await request('GET', '/v2/pools?type=damm_v2')).json.data[0].address as string
    const amm = new CpAmm(connection)
    const state = await amm.fetchPoolState(new PublicKey(damm))
    const swap = await amm.swap({
      payer: trader.publicKey,
      pool: new PublicKey(damm),
      inputTokenMint: spl.NATIVE_MINT,
      outputTokenMint: state.tokenAMint,
      amountIn: new BN((SOL / 10n).toString()),
      minimumAmountOut: new BN(0),
      tokenAMint: state.tokenAMint,
      tokenBMint: state.tokenBMint,
      tokenAVault: state.tokenAVault,
      tokenBVault: state.tokenBVault,
      tokenAProgram: spl.TOKEN_PROGRAM_ID,
      tokenBProgram: spl.TOKEN_PROGRAM_ID,
      referralTokenAccount: null,
      poolState: state,
    } as never)
    await send(swap, trader)
    const [position] = await amm.getUserPositionByPool(new PublicKey(damm), base.wallet.publicKey)
    expect(position).toBeDefined()
    const common = () => ({
      pool: new PublicKey(damm),
      tokenAMint: state.tokenAMint,
      tokenBMint: state.tokenBMint,
      tokenAVault: state.tokenAVault,
      tokenBVault: state.tokenBVault,
      tokenAProgram: spl.TOKEN_PROGRAM_ID,
      tokenBProgram: spl.TOKEN_PROGRAM_ID,
    })
    const claimed = await amm.claimPositionFee({
      ...common(),
      owner: base.wallet.publicKey,
      position: position!.position,
      positionNftAccount: position!.positionNftAccount,
    })
    await send(claimed, base.wallet)
    if (way === 'past') {
      // A position that holds nothing costs nothing: its owner claims, and names the platform wallet.
      const [stranger, nft] = [Keypair.generate(), Keypair.generate()]
      base.chain.airdrop(addressOf(stranger), SOL)
      const [owner, positionNft, dammPool] = [stranger.publicKey, nft.publicKey, new PublicKey(damm)]
      await send(await amm.createPosition({ owner, payer: owner, pool: dammPool, positionNft }), stranger, nft)
      acts.pass(700)
      await acts.settle(2)
      const [theirs] = await amm.getUserPositionByPool(dammPool, owner)
      const fabricated = await amm.claimPositionFee({
        ...common(),
        owner,
        position: theirs!.position,
        positionNftAccount: theirs!.positionNftAccount,
      })
      fabricated.add(
        SystemProgram.transfer({ fromPubkey: owner, toPubkey: base.wallet.publicKey, lamports: 1_000_000 }),
      )
      await send(fabricated, stranger)
    }
    await acts.settle()
    const claims = (await request('GET', '/v2/fee-claims')).json.data
    expect(claims.map(({ pool_address }: { pool_address: string }) => pool_address)).toEqual([
      damm,
      pool.address,
      pool.address,
    ])
    const config = (await request('GET', `/v2/pools/${pool.address}`)).json.data.config
    const texts = await acts.told({
      [pool.address]: 'CURVE',
      [pool.base_mint]: 'MINT',
      [damm]: 'DAMM',
      [addressOf(creator)]: 'CREATOR',
      [addressOf(trader)]: 'TRADER',
      [addressOf(base.wallet)]: 'WALLET',
      ...(config === undefined ? {} : { [config]: 'CONFIG' }),
      [way.toUpperCase()]: 'SYMBOL',
    })
    await platform.close()
    return texts
  }

  it('that a stranger trades, claims from and migrates are reported as if through the service', async () => {
    const found: Partial<Record<Way, string[]>> = {}
    for (const way of WAYS) {
      found[way] = await told(way)
      base.close()
      base = await openChainAndNode()
    }
    const masked = (texts: string[]) => texts.map((text) => text.replace(/"metadata_uri":"[^"]*"/, ''))
    expect(masked(found.past!)).toEqual(masked(found.through!))
    const shares = '"recipients":[{"recipient":"CREATOR","lamports":"400"},{"recipient":"TRADER","lamports":"600"}]'
    expect(found.past!.filter((text) => text.includes(shares))).toHaveLength(1)
    const types = found.past!.map((text) => text.split(' ')[0]).filter((type) => type !== 'record')
    expect(types).toEqual([
      'fee_claim.executed',
      'fee_claim.executed',
      'fee_claim.split_executed',
      'pool.created',
      'pool.live',
      'pool.migrated',
      'pool.migration_triggered',
    ])
  })
})
