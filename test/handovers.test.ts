/** Roles and positions that pass to the vault of a multisig over HTTP: executed on chain, and shown by the service. */
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { followPools } from '../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { addressOf, assetsOn, lacksCore } from './support/assets.ts'
import { IMAGE, keysIn, landOn } from './support/launches.ts'
import { startPlatform } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import { type Service, startService } from './support/service.ts'
import { signWith, walletOn } from './support/wallets.ts'

const lacksPools = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))

/** An address that a program signs for and that has no key. */
const vaultOf = (key: Keypair) =>
  PublicKey.findProgramAddressSync(
    [Buffer.from('vault'), key.publicKey.toBytes()],
    new PublicKey(PROGRAMS.dbc.id),
  )[0].toBase58()

async function poolsOn({ services, request, clock }: Pick<Service, 'services' | 'request' | 'clock'>) {
  const { chain, wallet: creator } = await walletOn(services)
  const land = (transaction: string, keys: readonly Keypair[]) => landOn(chain, transaction, keys)
  const settle = async () => {
    chain.advance(20)
    clock.advance(20_000)
    await followTransactions(services)
    await followPools(services)
  }
  const ask = async (method: string, path: string, body: object) => request(method, path, { body })
  const launch = async (more: object) => {
    const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE, ...more }
    const { data } = (await ask('POST', '/v2/pools', body)).json
    const keys = [creator, ...keysIn(data.required_signers)]
    for (const transaction of data.transactions) land(transaction, keys)
    await settle()
    return data.pool.address as string
  }
  return { creator, launch, land, settle, ask, request }
}

describe.skipIf(lacksPools)('a pool', () => {
  it("passes its creator's role to a vault with allow_programs alone, and its record names the vault", async () => {
    const { creator, launch, ask, settle, request } = await poolsOn(await startPlatform(null))
    const [pool, vault] = [await launch({}), vaultOf(creator)]
    const body = { payer: addressOf(creator), new_creator: vault }
    const refused = await ask('POST', `/v2/pools/${pool}/creator-transfers`, body)
    expect([refused.status, refused.json.error.param]).toEqual([400, 'new_creator'])
    const { json } = await ask('POST', `/v2/pools/${pool}/creator-transfers`, { ...body, allow_programs: true })
    const sent = await ask('POST', '/v2/transactions', {
      transaction: signWith(json.data.tx.transaction, [creator]),
      tracked_resource: json.data.tracked_resource,
    })
    expect(sent.status).toBe(200)
    await settle()
    expect((await request('GET', `/v2/pools/${pool}`)).json.data.creator).toBe(vault)
  })

  it('passes its position to a vault, which then owns what it holds', async () => {
    const { creator, launch, ask, land, request } = await poolsOn(await startPlatform(null))
    const [pool, vault] = [await launch({ type: 'damm_v2' }), vaultOf(creator)]
    const path = `/v2/pools/${pool}/position-transfers`
    const heldBy = async (owner: string) =>
      (await request('GET', `/v2/pools/${pool}/fee-delegations?owner=${owner}`)).json.data.positions
    const [position] = await heldBy(addressOf(creator))
    const body = { payer: addressOf(creator), new_owner: vault }
    const faultOf = async (more: object) => {
      const { status, json } = await ask('POST', path, { ...body, ...more })
      return [status, json.error.param]
    }
    expect(await faultOf({})).toEqual([400, 'new_owner'])
    expect(await faultOf({ new_owner: addressOf(creator) })).toEqual([400, 'new_owner'])
    const other = addressOf(Keypair.generate())
    expect(await faultOf({ payer: other, allow_programs: true })).toEqual([400, 'payer'])
    expect(await faultOf({ position: other, allow_programs: true })).toEqual([404, 'position'])
    const { data } = (await ask('POST', path, { ...body, position: position.position, allow_programs: true })).json
    expect(data).toMatchObject({
      pool_address: pool,
      owner: addressOf(creator),
      new_owner: vault,
      positions: [{ position: position.position, liquidity: position.liquidity }],
      remaining_positions: 0,
    })
    land(data.tx.transaction, [creator])
    expect(await heldBy(addressOf(creator))).toEqual([])
    expect(await heldBy(vault)).toMatchObject([{ position: position.position, liquidity: position.liquidity }])
    expect((await ask('POST', path, { ...body, allow_programs: true })).json.error.param).toBe('payer')
  })
})

describe.skipIf(lacksCore)('a collection', () => {
  it('passes its update authority to a vault, by its holder alone', async () => {
    const { request, funded, collection, built, land } = await assetsOn(await startService())
    const owner = funded()
    const [address, vault] = [await collection(owner), vaultOf(owner)]
    const path = `/v2/collections/${address}/update-authority`
    const body = { payer: addressOf(owner), new_authority: vault }
    const faultOf = async (more: object) =>
      (await request('PUT', path, { body: { ...body, ...more } })).json.error.param
    expect(await faultOf({})).toBe('new_authority')
    expect(await faultOf({ new_authority: addressOf(owner) })).toBe('new_authority')
    expect(await faultOf({ new_authority: PROGRAMS.core.id, allow_programs: true })).toBe('new_authority')
    expect(await faultOf({ payer: addressOf(funded()), allow_programs: true })).toBe('payer')
    const given = await built('PUT', path, { ...body, allow_programs: true })
    expect(given).toMatchObject({ collection: address, update_authority: addressOf(owner), new_authority: vault })
    expect(land(given, owner).err).toBeNull()
    const { data } = (await request('GET', `/v2/collections/${address}`)).json
    expect(data).toMatchObject({ update_authority: vault, name: 'Genesis #1' })
    expect(await faultOf({ allow_programs: true })).toBe('payer')
  })
})
