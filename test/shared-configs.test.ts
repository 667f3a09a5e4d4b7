/** Presets whose launches share one config account: made once, checked byte by byte, and a launch is one transaction. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { MAX_TRANSACTION_BYTES } from '../src/solana/constants.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { CURVE, IMAGE, settlePools } from './support/launches.ts'
import { startPlatform } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import { temporaryFolder } from './support/service.ts'
import { addressOf, keypairOf, walletOn } from './support/wallets.ts'

const lacking = [PROGRAMS.dbc, PROGRAMS.tokenMetadata].filter(({ id }) => !hasProgram(id))
const SHARED = {
  ...CURVE,
  shared_config: true,
}
const AT = '/v2/pool-presets/shared/shared-config'

async function setting(preset: object = SHARED) {
  const presets = join(temporaryFolder(), 'presets.json')
  const write = (content: object) => writeFileSync(presets, JSON.stringify({ shared: content }))
  write(preset)
  const service = await startPlatform(null, { settings: { 'pools.presets': presets } })
  const { chain, wallet: creator } = await walletOn(service.services)
  const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE, preset: 'shared' }
  const launch = async (more: object = {}) => service.request('POST', '/v2/pools', { body: { ...body, ...more } })
  const share = async (more: object = {}) =>
    service.request('POST', AT, { body: { payer: addressOf(creator), ...more } })
  const state = async () => (await service.request('GET', AT)).json.data
  const land = (text: string, keys: readonly number[][] = []) => {
    const transaction = VersionedTransaction.deserialize(Buffer.from(text, 'base64'))
    transaction.sign([creator, ...keys.map(keypairOf)])
    return chain.send(transaction.serialize()).err
  }
  const settle = () => settlePools(service, 1)
  return { ...service, chain, creator, launch, share, state, land, settle, write }
}

describe.skipIf(lacking.length > 0)('launches of a preset with a shared config', () => {
  it('are one transaction each, with the first buy, over one config account', async ({ annotate }) => {
    const { launch, share, state, land, settle, request } = await setting()
    expect(await state()).toEqual({ preset: 'shared', config: null, status: 'missing' })
    const early = await launch()
    expect([early.status, early.json.error.param]).toEqual([400, 'preset'])
    expect(early.json.error.message).toContain('svc pools share shared')

    const { data } = (await share()).json
    expect(await state()).toEqual({ preset: 'shared', config: data.config, status: 'pending' })
    expect((await launch()).json.error.details).toEqual({ config: data.config, status: 'pending' })
    expect(land(data.transaction)).toBeNull()
    expect(await state()).toEqual({ preset: 'shared', config: data.config, status: 'live' })

    for (const symbol of ['AAA', 'BBB']) {
      const { json } = await launch({ symbol, buy_amount: 1 })
      const { pool, transactions, required_signers } = json.data
      expect([pool.config, transactions.length]).toEqual([data.config, 1])
      expect(required_signers.config_secret_key).toEqual([])
      const bytes = Buffer.from(transactions[0], 'base64').length
      await annotate(`${bytes} bytes`, 'size')
      expect(bytes).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
      expect(land(transactions[0], [required_signers.base_mint_secret_key])).toBeNull()
      await settle()
      const read = (await request('GET', `/v2/pools/${pool.address}`)).json.data
      expect([read.status, read.config]).toEqual(['live', data.config])
      expect(read.curve_progress).toBeGreaterThan(0)
    }
    const again = await share()
    expect([again.status, again.json.error.details]).toEqual([400, { config: data.config, status: 'live' }])
  })

  it('build the same account again until it is on chain, so that its rent is paid once', async () => {
    const { share, land, state, chain } = await setting()
    const first = (await share()).json.data
    chain.advance(1)
    const second = (await share()).json.data
    expect(second.transaction).not.toBe(first.transaction)
    expect(second.config).toBe(first.config)
    expect([land(second.transaction), land(first.transaction)]).toEqual([null, expect.anything()])
    expect((await state()).status).toBe('live')
  })

  it('store nothing in a dry run, or for a payer that cannot pay', async () => {
    const { share, state } = await setting()
    const { data } = (await share({ dry_run: true })).json
    const dry = VersionedTransaction.deserialize(Buffer.from(data.transaction, 'base64'))
    expect(dry.signatures.every((signature) => signature.every((byte) => byte === 0))).toBe(true)
    const poor = await share({ payer: addressOf(Keypair.generate()) })
    expect([poor.status, poor.json.error.param]).toEqual([400, 'payer'])
    expect((await state()).status).toBe('missing')
  })

  it('use no account with other content, and share a new one instead', async () => {
    const { share, state, land, launch, chain } = await setting()
    const { config, transaction } = (await share()).json.data
    expect(land(transaction)).toBeNull()
    const account = chain.account(config)!
    for (const changed of [0, 8, 40, 72, account.data.length - 1]) {
      const data = Uint8Array.from(account.data)
      data[changed]! ^= 1
      chain.setAccount(config, { ...account, data })
      expect((await state()).status).toBe('different')
      const refused = await launch()
      expect([refused.status, refused.json.error.param]).toEqual([400, 'preset'])
    }
    const fresh = (await share()).json.data
    expect(fresh.config).not.toBe(config)
    expect(land(fresh.transaction)).toBeNull()
    expect(await state()).toEqual({ preset: 'shared', config: fresh.config, status: 'live' })
    expect((await launch()).status).toBe(201)
  })

  it('use another account after a change of the preset, and the first again after the change back', async () => {
    const { services, share, land, state, write, request } = await setting()
    const { config, transaction } = (await share()).json.data
    expect(land(transaction)).toBeNull()
    write({ ...SHARED, creator_fee_percentage: 5 })
    const { readSharedConfig } = await import('../src/operations/pools/shared-config.ts')
    const { curveNamed } = await import('../src/operations/pools/presets.ts')
    // The file is read once for each configuration, as at a start.
    const afresh = async () => {
      const config = { ...services.config }
      return readSharedConfig({ ...services, config }, await curveNamed(config, 'shared'))
    }
    expect(await afresh()).toMatchObject({ status: 'missing', row: null })
    write(SHARED)
    expect(await afresh()).toMatchObject({ status: 'live', row: { address: config } })
    expect((await state()).status).toBe('live')
    const shown = (await request('GET', '/v2/pool-presets')).json.data
    expect(shown.map((each: { shared_config: boolean }) => each.shared_config)).toEqual([false, true])
  })

  it('are refused for presets that share no config, and for unknown names', async () => {
    const { request, share } = await setting({ ...SHARED, shared_config: false })
    expect((await share()).json.error).toMatchObject({ code: 'bad_request', param: 'name' })
    expect((await request('GET', '/v2/pool-presets/none/shared-config')).json.error).toMatchObject({
      code: 'not_found',
      param: 'name',
    })
  })
})
