/** Plays the life of everything that svc builds: pools from launch to vesting, an airdrop, NFTs, locks and proposals. */
import type { Act } from '../../src/chain/program-cache/canary-report.ts'
import { type FreshKey, freshKey } from '../../src/solana/signatures.ts'
import { playPool } from './pool-acts.ts'
import { playPositions } from './position-acts.ts'
import { type Built, DAY_SECONDS, PLATFORM, type Stage } from './stage.ts'
import { playVault } from './vault-acts.ts'

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
