/** Accounts that every runtime has, and accounts of files, as a validator answers them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { parseAccountFile } from '../../src/chain/program-cache/cache.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import { parseJson } from '../../src/solana/json.ts'
import { u64 } from '../support/little-endian.ts'
import { openTestChain } from '../support/local-chain.ts'
import { temporaryFolder } from '../support/service.ts'

const PUBKEY = 'Gh9ZwEmdLJ8DscKNTkTqPbNwLNNBjuSzaG9Vp2KGtKJr'
/** As `solana account --output json` writes it. */
const filed = (pubkey: string, more: object = {}) => ({
  pubkey,
  account: {
    data: ['dGVzdCBkYXRh', 'base64'],
    executable: false,
    lamports: 5_000_000,
    owner: SYSTEM,
    rentEpoch: 0,
    ...more,
  },
})
const SYSTEM = '11111111111111111111111111111111'

async function chainWith(files: Record<string, string>) {
  const programsDir = temporaryFolder()
  mkdirSync(join(programsDir, 'accounts'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(programsDir, 'accounts', `${name}.json`), text)
  const { chain } = await openTestChain({ programsDir })
  const rpc = createRpc(chain)
  // biome-ignore lint/suspicious/noExplicitAny: tests state the shape of what they read.
  const call = async (method: string, ...params: unknown[]): Promise<any> =>
    (
      parseJson((await rpc.handle(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))) ?? '') as {
        result: unknown
      }
    ).result
  const parsed = async (address: string) => (await call('getAccountInfo', address, { encoding: 'jsonParsed' })).value
  return { chain, call, parsed }
}

describe('an account file of the program cache', () => {
  it('is read as the Solana CLI writes it, under any name, and keeps its rent epoch', async () => {
    const other = Keypair.generate().publicKey.toBase58()
    const third = Keypair.generate().publicKey.toBase58()
    const { call, chain } = await chainWith({
      'account-file': JSON.stringify(filed(PUBKEY)),
      [other]: JSON.stringify(filed(other, { rentEpoch: 7 })),
      [third]: JSON.stringify(filed(third)).replace('"rentEpoch":0', '"rentEpoch":18446744073709551615'),
    })
    expect(chain.status().warnings).toEqual([])
    const read = async (address: string) => (await call('getAccountInfo', address, { encoding: 'base64' })).value
    const account = {
      data: ['dGVzdCBkYXRh', 'base64'],
      executable: false,
      lamports: 5_000_000,
      owner: SYSTEM,
      space: 9,
    }
    expect(await read(PUBKEY)).toEqual({ ...account, rentEpoch: 0 })
    expect((await read(other)).rentEpoch).toBe(7)
    expect((await read(third)).rentEpoch).toBe(18_446_744_073_709_551_615n)
  })

  it.each([
    ['of another account', JSON.stringify(filed(Keypair.generate().publicKey.toBase58())), /it is of account/],
    ['without lamports', JSON.stringify(filed(PUBKEY, { lamports: -1 })), /its "lamports" must be a whole number/],
    ['with a rent epoch that is not a number', JSON.stringify(filed(PUBKEY, { rentEpoch: 'x' })), /its "rentEpoch"/],
    ['with data in another encoding', JSON.stringify(filed(PUBKEY, { data: ['zz', 'base58'] })), /its "data" must be/],
  ])('%s is left out, and the status says why', async (_, text, why) => {
    const { chain } = await chainWith({ [PUBKEY]: text })
    expect(chain.status().warnings).toEqual([expect.stringMatching(why)])
  })

  it('keeps its rent epoch when it is pulled from a folder', () => {
    expect(parseAccountFile(filed(PUBKEY, { rentEpoch: 3 }), PUBKEY)).toEqual({
      ...{ lamports: '5000000', owner: SYSTEM, data: 'dGVzdCBkYXRh', executable: false, rentEpoch: '3' },
    })
  })
})

describe('jsonParsed', () => {
  it('knows each sysvar, which holds its rent minimum', async () => {
    const { parsed, call } = await chainWith({})
    const rent = await parsed('SysvarRent111111111111111111111111111111111')
    expect(rent).toMatchObject({
      data: {
        program: 'sysvar',
        parsed: { type: 'rent', info: { lamportsPerByteYear: '5080', exemptionThreshold: 1, burnPercent: 50 } },
        space: 17,
      },
      lamports: await call('getMinimumBalanceForRentExemption', 17),
    })
    const clock = (await parsed('SysvarC1ock11111111111111111111111111111111')).data.parsed
    expect(clock).toMatchObject({ type: 'clock', info: { slot: expect.anything(), unixTimestamp: expect.anything() } })
    const schedule = (await parsed('SysvarEpochSchedu1e111111111111111111111111')).data.parsed
    expect(schedule).toMatchObject({ type: 'epochSchedule', info: { slotsPerEpoch: 432_000, warmup: false } })
    const hashes = (await parsed('SysvarS1otHashes111111111111111111111111111')).data.parsed
    expect([hashes.type, hashes.info.length]).toEqual(['slotHashes', 512])
    const recent = await parsed('SysvarRecentB1ockHashes11111111111111111111')
    const { blockhash } = (await call('getLatestBlockhash', { commitment: 'processed' })).value
    expect([recent.data.parsed.type, recent.data.parsed.info.length]).toEqual(['recentBlockhashes', 150])
    expect(recent.data.parsed.info[0]).toEqual({ blockhash, feeCalculator: { lamportsPerSignature: '5000' } })
    expect(recent.lamports).toBe(await call('getMinimumBalanceForRentExemption', 8 + 150 * 40))
  })

  it('knows stake, vote and config accounts, and answers broken ones as bytes', async () => {
    const key = () => Keypair.generate().publicKey
    const u32 = (value: number) => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32LE(value)
      return bytes
    }
    const f64 = (value: number) => {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(value)
      return bytes
    }
    const [staker, withdrawer, custodian, voter, stakeAt, voteAt, infoAt, brokenAt] = Array.from({ length: 8 }, key)
    const meta = [u64(2_282_880), staker!.toBuffer(), withdrawer!.toBuffer(), u64(0), u64(0), custodian!.toBuffer()]
    const delegation = [voter!.toBuffer(), u64(8_007_935), u64(386), u64(471), f64(0.25), u64(169_965_713)]
    const stake = Buffer.concat([u32(2), ...meta, ...delegation])
    const vote = Buffer.concat([
      ...[u32(2), staker!.toBuffer(), withdrawer!.toBuffer(), Buffer.of(50), u64(1), Buffer.of(3), u64(77), u32(31)],
      ...[Buffer.of(1), u64(76), u64(1), u64(656), voter!.toBuffer(), Buffer.alloc(32 * 48 + 9)],
      ...[u64(1), u64(593), u64(117_764_802), u64(117_762_806), u64(78), u64(1_709_828_565), Buffer.alloc(100)],
    ])
    const text = Buffer.from('{"name":"HoldTheNode"}')
    const INFO = 'Va1idator1nfo111111111111111111111111111111'
    const { PublicKey } = await import('@solana/web3.js')
    const info = Buffer.concat([
      ...[Buffer.of(2), new PublicKey(INFO).toBuffer(), Buffer.of(0), staker!.toBuffer(), Buffer.of(1)],
      ...[u64(text.length), text, Buffer.alloc(20)],
    ])
    const file = (data: Buffer, owner: string) =>
      JSON.stringify({ lamports: 10_290_815, owner, data: data.toString('base64'), executable: false })
    const STAKE = 'Stake11111111111111111111111111111111111111'
    const { parsed } = await chainWith({
      [stakeAt!.toBase58()]: file(stake, STAKE),
      [voteAt!.toBase58()]: file(vote, 'Vote111111111111111111111111111111111111111'),
      [infoAt!.toBase58()]: file(info, 'Config1111111111111111111111111111111111111'),
      [brokenAt!.toBase58()]: file(Buffer.of(2, 0, 0), STAKE),
    })
    expect((await parsed(stakeAt!.toBase58())).data).toMatchObject({
      program: 'stake',
      parsed: {
        type: 'delegated',
        info: {
          meta: {
            authorized: { staker: staker!.toBase58(), withdrawer: withdrawer!.toBase58() },
            rentExemptReserve: '2282880',
          },
          stake: {
            creditsObserved: 169_965_713,
            delegation: {
              voter: voter!.toBase58(),
              stake: '8007935',
              activationEpoch: '386',
              warmupCooldownRate: 0.25,
            },
          },
        },
      },
    })
    expect((await parsed(voteAt!.toBase58())).data).toMatchObject({
      program: 'vote',
      parsed: {
        type: 'vote',
        info: {
          commission: 50,
          votes: [{ slot: 77, confirmationCount: 31 }],
          rootSlot: 76,
          authorizedVoters: [{ epoch: 656, authorizedVoter: voter!.toBase58() }],
          priorVoters: [],
          epochCredits: [{ epoch: 593, credits: '117764802', previousCredits: '117762806' }],
          lastTimestamp: { slot: 78, timestamp: 1_709_828_565 },
        },
      },
    })
    expect((await parsed(infoAt!.toBase58())).data.parsed).toEqual({
      type: 'validatorInfo',
      info: {
        keys: [
          { pubkey: INFO, signer: false },
          { pubkey: staker!.toBase58(), signer: true },
        ],
        configData: { name: 'HoldTheNode' },
      },
    })
    expect((await parsed(brokenAt!.toBase58())).data).toEqual(['AgAA', 'base64'])
  })
})

it('getClusterNodes names the client and the shred version of the genesis hash', async () => {
  const { call } = await chainWith({})
  const [node, ...others] = await call('getClusterNodes')
  expect(others).toEqual([])
  expect(node).toMatchObject({ pubkey: await call('getIdentity').then(({ identity }) => identity), clientId: 3 })
  expect(node.shredVersion).toBeGreaterThan(0)
  expect(node.shredVersion).toBeLessThanOrEqual(0xffff)
})
