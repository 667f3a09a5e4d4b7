/** Plays the life of everything that svc builds: pools from launch to vesting, an airdrop, NFTs, locks, proposals and raises. */
import type { Act } from '../../src/chain/program-cache/canary-report.ts'
import { memoInstruction } from '../../src/chain/programs/memos.ts'
import { requireProgram } from '../../src/chain/programs/required-program.ts'
import {
  buildExecution,
  buildMultisigCreation,
  buildProposalCreation,
  buildReclaim,
  buildVote,
  readMultisig,
  readProposal,
  readSquadsSettings,
} from '../../src/chain/programs/squads/index.ts'
import { readLatestBlockhash } from '../../src/chain/reads/rpc-reads.ts'
import { compileUnsigned, type UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type FreshKey, freshKey } from '../../src/solana/signatures.ts'
import { innerMessageOf, vaultAddress } from '../../src/solana/squads/index.ts'
import { playGuards } from './guard-acts.ts'
import { playPool } from './pool-acts.ts'
import { playPositions } from './position-acts.ts'
import { playRaises } from './raise-acts.ts'
import { type Built, DAY_SECONDS, PLATFORM, SOL, type Stage } from './stage.ts'

const URI = 'https://example.com/canary.json'
/** Raw units. */
const SUPPLY = 1_000_000n
const VESTING_DAYS = 2

export async function playActs(stage: Stage): Promise<void> {
  await playPool(stage)
  await playPositions(stage)
  await playToken(stage)
  await playAirdrop(stage)
  await playNfts(stage)
  await playLocks(stage)
  await playVault(stage)
  await playRaises(stage)
  await playGuards(stage)
}

async function playToken({ act, client, land, landBuilt, wallet }: Stage): Promise<void> {
  const owner = wallet()
  let mint = ''

  await act('create a token', [], async () => {
    const texts = { name: 'Canary Drop', symbol: 'CDROP', uri: URI }
    const { data } = await client.tokens.create({ payer: owner.address, ...texts, initial_supply: '1000000' })
    land(data.transaction, owner, { secretKey: Uint8Array.from(data.required_signers.mint_secret_key) })
    mint = data.mint
  })
  await act('change a token', ['create a token'], async () => {
    const { data } = await client.tokens.updateMetadata({ mint, payer: owner.address, symbol: 'CDROP2' })
    landBuilt(data, owner)
  })
}

async function playAirdrop(stage: Stage): Promise<void> {
  const { act, client, chain, land, landBuilt } = stage
  const [owner, first, second] = [stage.wallet(), stage.wallet(), stage.wallet()]
  const mint = freshKey().address
  let id = ''
  await stage.setToken(mint, owner.address, SUPPLY)

  await act('airdrop', [], async () => {
    const entries = [first, second].map(({ address }) => ({ wallet: address, amount: '1000', amount_locked: '1000' }))
    const tree = (await client.merkleTrees.create({ mint, entries })).data
    id = tree.id
    const ends_at = new Date((chain.unixTimestamp() + VESTING_DAYS * DAY_SECONDS) * 1_000).toISOString()
    const terms = { clawback_after_days: 1, merkle_root: tree.root, airdrop_count: tree.airdrop_count, ends_at }
    const { data } = await client.airdrops.create({ payer: owner.address, ...PLATFORM, mint, ...terms })
    landBuilt(data, owner)
  })
  const claim = async () => {
    const { data } = await client.airdrops.claim({ id, claimer: first.address, ...PLATFORM, amount: '0' })
    land(data.transaction, first)
  }
  await act('claim an airdrop', ['airdrop'], claim)
  await act('claim what an airdrop vests', ['claim an airdrop'], async () => {
    chain.advance(DAY_SECONDS)
    await claim()
  })
  await act('clawback of an airdrop', ['airdrop'], async () => {
    chain.advance((VESTING_DAYS + 2) * DAY_SECONDS)
    const { vault_balance } = (await client.airdrops.get({ id })).data
    await client.airdrops.withdraw({ id, amount: String(vault_balance) })
  })
}

async function playNfts(stage: Stage): Promise<void> {
  const { act, client, land } = stage
  const [owner, next] = [stage.wallet(), stage.wallet()]
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
  await act('give away a collection', ['create a collection'], async () => {
    const terms = { address: collection, new_authority: next.address }
    const { data } = await client.collections.transferAuthority({ payer: owner.address, ...terms })
    land(data.transaction, owner)
  })
}

// Plays a gold lock, and a lock whose recipient changes and which ends early.

/** Raw units. */
const GOLD_SUPPLY = 1_000n
const PERIOD_SECONDS = 10

async function playLocks(stage: Stage): Promise<void> {
  const { act, client, chain, land, landBuilt, goldMint } = stage
  const [owner, recipient, next] = [stage.wallet(), stage.wallet(), stage.wallet()]
  const { address: user } = owner
  await stage.setToken(goldMint.address, user, GOLD_SUPPLY)

  await act('lock', [], async () => {
    const { data } = await client.goldLocks.create({ user, ...PLATFORM, amount: '400', lock_duration_days: 1 })
    land(data.transaction, owner)
  })
  await act('unlock', ['lock'], async () => {
    chain.advance(2 * DAY_SECONDS)
    const { data } = await client.goldLocks.unlock({ user, ...PLATFORM })
    land(data.transaction, owner)
  })

  let lock = ''
  await act('create a lock', [], async () => {
    const schedule = { amount: '100', frequency: PERIOD_SECONDS, periods: 10 }
    const rights = { cancellable_by: 'creator', recipient_changeable_by: 'creator' } as const
    const terms = { mint: goldMint.address, recipient: recipient.address, ...schedule, ...rights }
    const { data } = await client.locks.create({ payer: user, ...terms })
    landBuilt(data, owner)
    lock = data.address
  })
  type Place = { address: string; payer: string }
  const onLock = (name: Act, payer: FreshKey, build: (place: Place) => Promise<{ data: Built }>) =>
    act(name, ['create a lock'], async () => {
      landBuilt((await build({ address: lock, payer: payer.address })).data, payer)
    })
  await onLock('title a lock', owner, (place) => client.locks.entitle({ ...place, title: 'Canary' }))
  chain.advance(3 * PERIOD_SECONDS)
  await onLock('claim a lock', recipient, (place) => client.locks.claim(place))
  await onLock('change the recipient of a lock', owner, (place) =>
    client.locks.changeRecipient({ ...place, new_recipient: next.address }),
  )
  await onLock('cancel a lock', owner, (place) => client.locks.cancel(place))
}

/** Bytes of a text with which a message takes a buffer that is filled in two transactions. */
const LONG_TEXT = 900
/** Number of a buffer that no proposal of the other acts fills. */
const LEFT_BUFFER = 1

/** A platform that may only propose, and two members who decide. */
async function playVault(stage: Stage): Promise<void> {
  const { act, chain, node, land } = stage
  const [proposer, first, second, createKey] = [stage.wallet(), stage.wallet(), stage.wallet(), stage.wallet()]
  const envelope = async ({ address }: FreshKey) => {
    const { blockhash } = await readLatestBlockhash(node)
    return { payer: address, recentBlockhash: blockhash }
  }
  const send = ({ transaction }: UnsignedTransaction, ...keys: FreshKey[]) =>
    land(Buffer.from(transaction).toString('base64'), ...keys)
  let multisig = ''

  /** Builds the next proposal, whose message has a text of this length. */
  const propose = async (textBytes: number, bufferIndex = 0) => {
    const index = (await readMultisig(node, multisig)).transactionIndex + 1n
    const inner = await payment(stage, vaultAddress(multisig, 0), 'x'.repeat(textBytes))
    const terms = { multisig, index, vaultIndex: 0, member: proposer.address, inner, ephemeralSigners: 0 }
    const more = { approve: false, bufferIndex }
    return { index, ...(await buildProposalCreation({ ...(await envelope(proposer)), ...terms, ...more })) }
  }
  const proposed = async (textBytes = 0) => {
    const { index, transactions } = await propose(textBytes)
    for (const transaction of transactions) send(transaction, proposer)
    return index
  }
  const vote = async (kind: 'approve' | 'reject' | 'cancel', index: bigint, ...voters: FreshKey[]) => {
    for (const voter of voters) {
      send(await buildVote(kind, { ...(await envelope(voter)), multisig, index, member: voter.address }), voter)
    }
  }
  const reclaim = async (index: bigint, rentCollector: string | null, buffers: readonly number[] = []) => {
    send(await buildReclaim({ ...(await envelope(proposer)), multisig, index, rentCollector, buffers }), proposer)
  }
  let executed = 0n

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
    executed = await proposed()
  })
  await act('execute a proposal', ['propose to a vault'], async () => {
    await vote('approve', executed, first, second)
    const { transaction } = await readProposal(node, multisig, executed)
    if (transaction === null) throw new Error('the proposal was not stored')
    const terms = { ...(await envelope(first)), ...transaction, member: first.address }
    send(await buildExecution(terms), first)
  })
  await act('close a proposal', ['execute a proposal'], () => reclaim(executed, proposer.address))
  // Two of two must approve, so one rejection decides.
  await act('reject a proposal', ['propose to a vault'], async () => vote('reject', await proposed(), first))
  await act('cancel a proposal', ['propose to a vault'], async () => {
    const index = await proposed()
    await vote('approve', index, first, second)
    await vote('cancel', index, first, second)
  })
  await act('propose in parts', ['create a multisig'], async () => {
    await proposed(LONG_TEXT)
  })
  await act('close a buffer', ['create a multisig'], async () => {
    const { index, transactions } = await propose(LONG_TEXT, LEFT_BUFFER)
    const [creation] = transactions
    if (creation === undefined) throw new Error('the proposal was not built')
    send(creation, proposer)
    await reclaim(index, null, [LEFT_BUFFER])
  })
}

/** A message with which a vault sends half a SOL to the platform, and says something. */
async function payment({ node, platform }: Stage, vault: string, text: string) {
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  const { blockhash } = await readLatestBlockhash(node)
  const [fromPubkey, toPubkey] = [new PublicKey(vault), new PublicKey(platform.address)]
  const pay = SystemProgram.transfer({ fromPubkey, toPubkey, lamports: SOL / 2n })
  const memo = text === '' ? [] : [await memoInstruction(text, [vault])]
  const { transaction } = await compileUnsigned({ payer: vault, recentBlockhash: blockhash }, [pay, ...memo])
  return innerMessageOf(decodeWireTransaction(transaction), { vault })
}
