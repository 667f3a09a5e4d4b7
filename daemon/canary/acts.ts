/** Plays the life of everything that svc builds: a pool from launch to vesting, an airdrop, NFTs, a gold lock and a proposal. */

import type { FeeClaimKind } from '../../src/api/fee-claims.ts'
import type { Act } from '../../src/chain/program-cache/canary-report.ts'
import { tokenAccountAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import { requireProgram } from '../../src/chain/programs/required-program.ts'
import {
  buildExecution,
  buildMultisigCreation,
  buildProposalCreation,
  buildReclaim,
  buildVote,
  readProposal,
  readSquadsSettings,
} from '../../src/chain/programs/squads/index.ts'
import { readLatestBlockhash } from '../../src/chain/reads/rpc-reads.ts'
import { compileUnsigned, type UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { FreshKey } from '../../src/solana/signatures.ts'
import { innerMessageOf, vaultAddress } from '../../src/solana/squads/index.ts'
import { plainMint, plainTokenAccount, TOKEN_AMOUNT_OFFSET } from '../../src/solana/token-accounts.ts'
import type { Stage } from './stage.ts'

/** The smallest PNG: one transparent pixel. */
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const URI = 'https://example.com/canary.json'
const PLATFORM = { platform_id: 'canary' }
const DAY_SECONDS = 86_400
const VESTING_SECONDS = 2_000
const SOL = 1_000_000_000n
/** Raw units of the gold token, all of which one wallet has. */
const [GOLD_DECIMALS, GOLD_SUPPLY] = [6, 1_000n]
/** A curve with vested tokens takes two transactions. */
const MAX_MIGRATION_STEPS = 3

export async function playActs(stage: Stage): Promise<void> {
  await playPool(stage)
  await playAirdrop(stage)
  await playNfts(stage)
  await playGold(stage)
  await playVault(stage)
}

async function playPool(stage: Stage): Promise<void> {
  const { act, chain } = stage
  const [creator, trader] = [stage.wallet(), stage.wallet()]
  let [pool, mint, market] = ['', '', '']
  const trade = (address: string, side: 'buy' | 'sell', amount: bigint) =>
    swap(stage, trader, { address, side, amount })
  const sellTenth = async (address: string) => trade(address, 'sell', (await heldBy(stage, mint, trader)) / 10n)
  const claims = (name: Act, needs: readonly Act[], kind: FeeClaimKind, beneficiary: 'partner' | 'creator') =>
    act(name, needs, () => {
      const payer = beneficiary === 'partner' ? stage.platform : creator
      return claim(stage, payer, { address: pool, kind, beneficiary })
    })

  await act('launch', [], async () => {
    const launched = await launch(stage, creator, { symbol: 'CANARY', buy_amount: 0.05 })
    ;[pool, mint] = [launched.address, launched.base_mint]
  })
  await act('buy', ['launch'], () => trade(pool, 'buy', SOL / 2n))
  await act('sell', ['launch', 'buy'], () => sellTenth(pool))
  await claims('partner claims trading fees', ['launch', 'buy'], 'dbc', 'partner')
  await claims('creator claims trading fees', ['launch', 'buy'], 'dbc', 'creator')
  await act('fill', ['launch', 'buy'], () => trade(pool, 'buy', 20n * SOL))
  await act('migrate', ['launch', 'fill'], async () => {
    market = await migrate(stage, trader, pool)
  })
  await act('trade after the migration', ['migrate'], async () => {
    await trade(market, 'buy', SOL / 10n)
    await sellTenth(market)
  })
  await claims('partner claims surplus', ['fill', 'migrate'], 'surplus', 'partner')
  await claims('creator claims surplus', ['fill', 'migrate'], 'surplus', 'creator')
  await claims('partner claims migration fee', ['fill'], 'migration_fee', 'partner')
  await claims('creator claims migration fee', ['fill'], 'migration_fee', 'creator')
  await claims('partner claims leftover', ['migrate'], 'leftover', 'partner')
  await claims('partner claims pool creation fee', ['launch'], 'pool_creation_fee', 'partner')
  await claims('partner claims fees of positions', ['trade after the migration'], 'damm_v2', 'partner')
  await claims('creator claims fees of positions', ['trade after the migration'], 'damm_v2', 'creator')
  chain.advance(VESTING_SECONDS)
  await claims('creator claims vested tokens', ['migrate'], 'vesting', 'creator')
  await act('launch without a curve', [], async () => {
    await launch(stage, creator, { type: 'damm_v2', symbol: 'CANARY2' })
  })
}

async function launch({ client, land }: Stage, creator: FreshKey, terms: { symbol: string; [term: string]: unknown }) {
  const { data } = await client.pools.create({ creator: creator.address, name: 'Canary', image: IMAGE, ...terms })
  const keys = Object.values(data.required_signers).flatMap((bytes) =>
    bytes?.length ? [{ secretKey: Uint8Array.from(bytes) }] : [],
  )
  for (const transaction of data.transactions) land(transaction, creator, ...keys)
  return data.pool
}

async function swap(
  { client, land }: Stage,
  trader: FreshKey,
  { amount, ...order }: { address: string; side: 'buy' | 'sell'; amount: bigint },
): Promise<void> {
  const { data } = await client.pools.swap({ ...order, payer: trader.address, amount: String(amount) })
  land(data.tx.transaction, trader)
}

/** Returns the raw units that a wallet has of a mint. */
async function heldBy({ chain }: Stage, mint: string, { address }: FreshKey): Promise<bigint> {
  const account = chain.account(await tokenAccountAddress(mint, address))
  return account === null ? 0n : Buffer.from(account.data).readBigUInt64LE(TOKEN_AMOUNT_OFFSET)
}

async function claim(
  { client, land }: Stage,
  payer: FreshKey,
  terms: { address: string; kind: FeeClaimKind; beneficiary: 'partner' | 'creator' },
): Promise<void> {
  const { data } = await client.feeClaims.create({ ...terms, payer: payer.address })
  if (data.tx.mode !== 'unsigned') throw new Error('the claim was not built')
  land(data.tx.transaction, payer)
}

/** Returns the address of the pool that the curve becomes. */
async function migrate({ client, land }: Stage, payer: FreshKey, address: string): Promise<string> {
  for (let steps = 0; steps < MAX_MIGRATION_STEPS; steps++) {
    const { data } = await client.pools.migrate({ address, payer: payer.address })
    land(data.tx.transaction, payer)
    if (data.step === 'migrate') return data.damm_pool_address
  }
  throw new Error(`the curve is not migrated after ${MAX_MIGRATION_STEPS} transactions`)
}

async function playAirdrop(stage: Stage): Promise<void> {
  const { act, client, chain, land } = stage
  const [owner, first, second] = [stage.wallet(), stage.wallet(), stage.wallet()]
  let [mint, id] = ['', '']

  await act('create a token', [], async () => {
    const texts = { name: 'Canary Drop', symbol: 'CDROP', uri: URI }
    const { data } = await client.tokens.create({ payer: owner.address, ...texts, initial_supply: '1000000' })
    land(data.transaction, owner, { secretKey: Uint8Array.from(data.required_signers.mint_secret_key) })
    mint = data.mint
  })
  await act('airdrop', ['create a token'], async () => {
    const entries = [first, second].map(({ address }) => ({ wallet: address, amount: '1000' }))
    const tree = (await client.merkleTrees.create({ mint, entries })).data
    id = tree.id
    const terms = { clawback_after_days: 1, merkle_root: tree.root, airdrop_count: tree.airdrop_count }
    const { data } = await client.airdrops.create({ payer: owner.address, ...PLATFORM, mint, ...terms })
    if (data.mode !== 'unsigned') throw new Error('the airdrop was not built')
    land(data.transaction, owner)
  })
  await act('claim an airdrop', ['airdrop'], async () => {
    const { data } = await client.airdrops.claim({ id, claimer: first.address, ...PLATFORM, amount: '0' })
    land(data.transaction, first)
  })
  await act('clawback of an airdrop', ['airdrop'], async () => {
    chain.advance(3 * DAY_SECONDS)
    const { vault_balance } = (await client.airdrops.get({ id })).data
    await client.airdrops.withdraw({ id, amount: String(vault_balance) })
  })
}

async function playNfts(stage: Stage): Promise<void> {
  const { act, client, land } = stage
  const owner = stage.wallet()
  let [collection, asset] = ['', '']

  await act('create a collection', [], async () => {
    const { data } = await client.collections.create({ payer: owner.address, name: 'Canary', uri: URI })
    land(data.transaction, owner)
    collection = data.collection
  })
  await act('mint', ['create a collection'], async () => {
    const { data } = await client.nfts.create({ payer: owner.address, ...PLATFORM, collection, name: 'One', uri: URI })
    land(data.transaction, owner)
    asset = data.asset
  })
  await act('stake', ['mint'], async () => {
    const { data } = await client.stakes.create({ user: owner.address, ...PLATFORM, asset, collection })
    land(data.transaction, owner)
  })
  await act('release a stake', ['stake'], async () => {
    const { data } = await client.stakes.release({ user: owner.address, ...PLATFORM, asset, collection })
    land(data.transaction, owner)
  })
  await act('burn', ['release a stake'], async () => {
    const { data } = await client.nfts.burn({ owner: owner.address, ...PLATFORM, asset, collection })
    land(data.transaction, owner)
  })
}

async function playGold(stage: Stage): Promise<void> {
  const { act, client, chain, land, goldMint } = stage
  const owner = stage.wallet()
  const account = await tokenAccountAddress(goldMint.address, owner.address)
  const token = { lamports: SOL, owner: TOKEN_PROGRAM, executable: false }
  stage.setAccount(goldMint.address, { ...token, data: plainMint(GOLD_DECIMALS, GOLD_SUPPLY) })
  stage.setAccount(account, {
    ...token,
    data: plainTokenAccount({ mint: goldMint.address, owner: owner.address, amount: GOLD_SUPPLY }),
  })
  const { address: user } = owner

  await act('lock', [], async () => {
    const { data } = await client.goldLocks.create({ user, ...PLATFORM, amount: '400', lock_duration_days: 1 })
    land(data.transaction, owner)
  })
  await act('unlock', ['lock'], async () => {
    chain.advance(2 * DAY_SECONDS)
    const { data } = await client.goldLocks.unlock({ user, ...PLATFORM })
    land(data.transaction, owner)
  })
}

/** A platform that may only propose, and two members who decide. */
async function playVault(stage: Stage): Promise<void> {
  const { act, chain, node, land, platform } = stage
  const [proposer, first, second, createKey] = [stage.wallet(), stage.wallet(), stage.wallet(), stage.wallet()]
  const envelope = async ({ address }: FreshKey) => {
    const { blockhash } = await readLatestBlockhash(node)
    return { payer: address, recentBlockhash: blockhash }
  }
  const send = ({ transaction }: UnsignedTransaction, ...keys: FreshKey[]) =>
    land(Buffer.from(transaction).toString('base64'), ...keys)
  let multisig = ''
  const at = () => ({ multisig, index: 1n })

  await act('create a multisig', [], async () => {
    await requireProgram(node, PROGRAMS.squads)
    const rights = { initiate: true, vote: true, execute: true }
    const members = [
      { address: proposer.address, initiate: true, vote: false, execute: false },
      ...[first, second].map(({ address }) => ({ address, ...rights })),
    ]
    const { treasury } = await readSquadsSettings(node)
    const terms = { createKey: createKey.address, treasury, threshold: 2, members, rentCollector: proposer.address }
    const built = await buildMultisigCreation({ ...(await envelope(proposer)), ...terms })
    send(built, proposer, createKey)
    multisig = built.multisig
    chain.airdrop(vaultAddress(multisig, 0), SOL)
  })
  await act('propose to a vault', ['create a multisig'], async () => {
    const inner = await payment(stage, vaultAddress(multisig, 0), platform.address)
    const member = proposer.address
    const terms = { ...at(), vaultIndex: 0, member, inner, ephemeralSigners: 0, approve: false }
    const { transactions } = await buildProposalCreation({ ...(await envelope(proposer)), ...terms })
    for (const transaction of transactions) send(transaction, proposer)
  })
  await act('execute a proposal', ['propose to a vault'], async () => {
    for (const voter of [first, second]) {
      send(await buildVote('approve', { ...(await envelope(voter)), ...at(), member: voter.address }), voter)
    }
    const { transaction } = await readProposal(node, multisig, 1n)
    if (transaction === null) throw new Error('the proposal was not stored')
    const terms = { ...(await envelope(first)), ...transaction, member: first.address }
    send(await buildExecution(terms), first)
  })
  await act('close a proposal', ['execute a proposal'], async () => {
    const terms = { ...(await envelope(proposer)), ...at(), rentCollector: proposer.address }
    send(await buildReclaim(terms), proposer)
  })
}

/** A message with which a vault sends half a SOL. */
async function payment({ node }: Stage, vault: string, to: string) {
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  const { blockhash } = await readLatestBlockhash(node)
  const [fromPubkey, toPubkey] = [new PublicKey(vault), new PublicKey(to)]
  const pay = SystemProgram.transfer({ fromPubkey, toPubkey, lamports: SOL / 2n })
  const { transaction } = await compileUnsigned({ payer: vault, recentBlockhash: blockhash }, [pay])
  return innerMessageOf(decodeWireTransaction(transaction), { vault })
}
