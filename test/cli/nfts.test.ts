/** NFTs by the built command, signed here, on the embedded chain: one life, and whole lists from a CSV. */
import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { transferV1 } from '@metaplex-foundation/mpl-core'
import { Connection, Keypair, VersionedTransaction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import { lacksCore } from '../support/assets.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { inSoak, itInSoak } from '../support/runs.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
Object.assign(cli.env, { SVC_PROGRAMS_DIR: quickProgramsDir() })
const { svc } = cli
const [payer, other] = [Keypair.generate(), Keypair.generate()]
const [address, stranger] = [payer, other].map(({ publicKey }) => publicKey.toBase58()) as [string, string]

const { json } = cli
const refused = async (args: string[], exitCode = 2) => {
  const ran = await svc(args)
  expect({ exitCode: ran.exitCode, stdout: ran.stdout }, ran.stderr).toEqual({ exitCode, stdout: '' })
  return ran.stderr
}
const collection = async (): Promise<string> =>
  (await json(['collections', 'create', '--name', 'Genesis', '--uri', 'https://example.com/g.json'])).collection
const list = (name: string, rows: string[]) => cli.file(name, `${rows.join('\n')}\n`)
const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => `#${i + 1},https://example.com/${i + 1}.json`)

let daemon: Served
beforeAll(async () => {
  mkdirSync(join(cli.home, '.config/solana'), { recursive: true })
  cli.file('.config/solana/id.json', JSON.stringify([...payer.secretKey]), 0o600)
  cli.file('other.json', JSON.stringify([...other.secretKey]), 0o600)
  mkdirSync(cli.dataDir, { recursive: true })
  daemon = await serveHere(cli.dataDir)
  for (const wallet of [address, stranger]) await json(['localnet', 'airdrop', wallet, '100'])
})
afterAll(() => daemon?.stop())

describe.skipIf(lacksCore)('An NFT', () => {
  it('is minted, staked, frozen, released and burned, and each state is read back', async () => {
    const into = await collection()
    expect(await json(['collections', 'get', into])).toMatchObject({
      update_authority: address,
      num_minted: 0,
    })
    const minting = [
      ...['nfts', 'mint', '--collection', into, '--name', 'Genesis #1', '--uri', 'https://example.com/1.json'],
    ]
    const { asset, lifecycle } = await json(minting)
    expect(lifecycle).toMatch(/^(confirmed|finalized)$/)
    const nft = () => json(['nfts', 'get', asset])
    expect(await nft()).toMatchObject({ collection: into, owner: address, name: 'Genesis #1', frozen: false })
    expect(await json(['stakes', 'create', asset, '--platform-id', 'acme'])).toMatchObject({
      status: 'staked',
    })
    expect(await nft()).toMatchObject({ frozen: true })
    expect(await json(['stakes', 'lookup', address])).toMatchObject({
      staked_assets: [{ asset, status: 'staked', platform_id: 'acme' }],
    })
    const { rpc_url } = JSON.parse(readFileSync(join(cli.dataDir, 'localnet.json'), 'utf8'))
    expect(await transferFails(rpc_url, asset, into)).toContain('custom program error: 0x9')
    await cli.refused(['nfts', 'burn', asset], 'release it before you burn it')
    await cli.refused(['stakes', 'create', asset], 'already staked')
    expect(await json(['stakes', 'release', asset])).toMatchObject({ asset, status: 'unstaked' })
    expect(await json(['stakes', 'get', asset])).toMatchObject({ status: 'unstaked', platform_id: 'acme' })
    expect(await json(['nfts', 'burn', asset])).toMatchObject({ asset, status: 'burned' })
    expect(await nft()).toMatchObject({ status: 'burned', owner: null })
    await cli.refused(['nfts', 'burn', asset], 'is burned already')
    expect(await json(['nfts', 'list'])).toMatchObject([{ asset, status: 'burned' }])
    expect(await json(['stakes', 'list'])).toMatchObject([{ asset, status: 'burned' }])
  })

  it.skipIf(!inSoak)(
    'of a collection with another authority is built, and both sign one after the other',
    { tags: 'sampled' },
    async () => {
      const into = await collection()
      const minting = ['nfts', 'mint', '--collection', into, '--name', 'A', '--uri', 'https://example.com/a.json']
      const file = join(cli.home, 'other.json')
      expect(await refused([...minting, '-k', file])).toContain(`${address} must sign this too`)
      const built = await json([...minting, '-k', file, '--build-only'])
      expect(built).toMatchObject({ missing_signers: [stranger, address], signed_by: [built.asset] })
      const half = await json(['tx', 'sign', '-', '-k', file], { input: JSON.stringify(built) })
      const whole = await json(['tx', 'sign', '-'], { input: JSON.stringify(half) })
      expect(await json(['tx', 'submit', '-'], { input: JSON.stringify(whole) })).toMatchObject({ err: null })
      expect(await json(['nfts', 'get', built.asset])).toMatchObject({ owner: stranger, status: 'minted' })
    },
  )

  it('of a list is minted only for wallets, and only with a valid URI', async () => {
    const into = await collection()
    const from = (name: string) => {
      const file = cli.file(name, readFileSync(join(import.meta.dirname, '../merkle/cases', name), 'utf8'))
      return ['nfts', 'mint', '--collection', into, '--from', file, '--yes']
    }
    const owners = await refused(from('nfts-owner-token-account.csv'))
    expect(owners).toMatch(/csv:2: the owner GNboSPF\w+ is not a wallet \(off_curve\)/)
    expect(owners).toMatch(/csv:6: the owner 1nc1nerator\w+ is not a wallet \(program_owned\)/)
    expect(owners).toMatch(/\d of 5 owners are not wallets/)
    const uris = await refused(from('nfts-space-uri.csv'))
    expect(uris).toContain('csv:2:9: the uri has a space at character 29, which is not allowed in a URI: write %20')
    expect(uris).toContain('csv:5:9: the uri must be a URI with its scheme')
    expect(uris).toContain('csv:6:9: the uri must be a URI with its scheme')
    expect(await json(['collections', 'get', into])).toMatchObject({ num_minted: 0 })
  })

  it('is refused if an input is missing or given twice', async () => {
    const mint = ['nfts', 'mint', '--collection', address]
    expect(await refused([...mint, '--name', 'x'])).toContain('missing --uri or --from')
    expect(await refused([...mint, '--from', 'x.csv', '--name', 'x'])).toContain('--name cannot be used with --from')
    expect(await refused([...mint, '--name', 'x', '--uri', 'https://a.b', '--journal', 'j'])).toContain(
      '--journal needs --from',
    )
    expect(await refused([...mint, '--from', '-'])).toContain('standard input could not be read again')
    expect(await refused([...mint, '--name', 'x', '--uri', 'https://a.b'], 3)).toContain('no collection at')
    expect(await refused(['nfts', 'burn', address], 3)).toContain('no asset at')
  })
})

/** As the owner's wallet would, past svc; answers what the node says no with. */
async function transferFails(url: string, asset: string, into: string): Promise<string> {
  const connection = new Connection(url, 'confirmed')
  const { context, signer, key, instructions } = await loadCore()
  const { blockhash } = await connection.getLatestBlockhash()
  const given = transferV1(context, {
    asset: key(asset),
    collection: key(into),
    payer: signer(address),
    authority: signer(address),
    newOwner: key(stranger),
  })
  const { transaction } = await compileUnsigned({ payer: address, recentBlockhash: blockhash }, instructions(given))
  const signed = VersionedTransaction.deserialize(transaction)
  signed.sign([payer])
  return connection.sendTransaction(signed).then(String, (error: Error) => error.message)
}

describe.skipIf(lacksCore)('A list of NFTs', () => {
  itInSoak('is minted once, however often the command runs, and may grow', async () => {
    const into = await collection()
    const rows = [
      'name,uri,owner',
      ...numbered(5).map((row) => `${row},`),
      `"A, ""b""",https://example.com/q.json,${stranger}`,
    ]
    const file = list('grows.csv', rows)
    const mint = ['nfts', 'mint', '--collection', into, '--from', file]
    const dry = await json([...mint, '--dry-run'])
    expect(dry).toMatchObject({ total: 6, to_mint: 6, minted: 0, nfts: expect.arrayContaining([]) })
    expect(() => statSync(`${file}.mint.json`)).toThrow('ENOENT')
    const first = await json(mint)
    expect(first).toMatchObject({ total: 6, minted: 6, failed: 0, journal: `${file}.mint.json` })
    expect(statSync(`${file}.mint.json`).mode & 0o777).toBe(0o600)
    const last = first.nfts.at(-1)
    expect(last).toMatchObject({ line: 7, name: 'A, "b"', owner: stranger, status: 'minted' })
    expect(await json(['nfts', 'get', last.asset])).toMatchObject({ name: 'A, "b"', owner: stranger })
    expect(await json(mint)).toMatchObject({ minted: 0, there_already: 6 })

    // Added, in another order, and one that says the same as another.
    list('grows.csv', [rows[0]!, rows[1]!, '#new,https://example.com/new.json,', ...rows.slice(1).reverse()])
    expect(await json(mint)).toMatchObject({ total: 8, minted: 2, there_already: 6 })
    expect(await json(['collections', 'get', into])).toMatchObject({ num_minted: 8, current_size: 8 })
    // What is burned stays minted.
    const { asset } = first.nfts[0]
    await json(['nfts', 'burn', asset])
    expect(await json(mint)).toMatchObject({ minted: 0, there_already: 8 })
  })

  it.skipIf(!inSoak)(
    'is refused if a minted row has changed, and continues if another row has',
    { tags: 'sampled' },
    async () => {
      const into = await collection()
      const file = list('changes.csv', numbered(3))
      const mint = ['nfts', 'mint', '--collection', into, '--from', file]
      await json(mint)
      list('changes.csv', ['#1,https://example.com/other.json', ...numbered(3).slice(1)])
      const error = await refused(mint)
      expect(error).toContain('"#1" was minted (')
      expect(error).toContain('put the row back as it was')
      // A row that no run has minted may become another.
      const lost = (at: number) =>
        `${JSON.stringify({ row: `0:${JSON.stringify(['never minted', 'https://example.com/never.json', address])}`, name: 'never minted', at })}\n`
      appendFileSync(`${file}.mint.json`, lost(Date.now()))
      list('changes.csv', [...numbered(3), '#4,https://example.com/4.json'])
      const early = await refused(mint)
      expect(early).toContain('"never minted" of an earlier run is not in the CSV any more, and may still be minted')
      expect(early).toMatch(/or run it again in 1\d\d seconds/)
      appendFileSync(`${file}.mint.json`, lost(1))
      expect(await json(mint)).toMatchObject({ minted: 1, there_already: 3 })
      // What may have been minted stays known: its last transaction may have been on its way.
      const [, ...begun] = readFileSync(`${file}.mint.json`, 'utf8').trim().split('\n')
      expect(begun.map((line) => JSON.parse(line).name)).toEqual(['#1', '#2', '#3', 'never minted', '#4'])
      expect(await refused([...mint, '-k', join(cli.home, 'other.json')])).toContain('was started with the keypair')
      const elsewhere = await collection()
      expect(await refused(['nfts', 'mint', '--collection', elsewhere, '--from', file])).toContain(
        'was started with the collection',
      )
      const anew = join(cli.home, 'anew.json')
      expect(await json(['nfts', 'mint', '--collection', elsewhere, '--from', file, '--journal', anew])).toMatchObject({
        minted: 4,
      })
      const damaged = await refused([...mint, '--journal', file])
      expect(damaged).toContain('is not a journal')
      expect(damaged).toContain('another --journal mints every row again')
    },
  )

  it('has each fault reported by line and column, and nothing is minted', async () => {
    const into = await collection()
    const file = list('faults.csv', [
      'name,uri,owner',
      '#1,https://example.com/1.json,',
      'no uri,,',
      `${'x'.repeat(65)},https://example.com/2.json`,
      `#3,not a uri,0${into}`,
      'a,b,c,d',
      `long,https://example.com/${'u'.repeat(700)}`,
      '"open,https://example.com/3.json',
    ])
    const lines = (await refused(['nfts', 'mint', '--collection', into, '--from', file])).split('\n')
    const at = (place: string) => lines.find((line) => line.startsWith(`${file}:${place}: `))
    expect(at('3:8')).toContain('the uri is missing')
    expect(at('4:1')).toContain('the name')
    expect(at('5:4')).toContain('the uri must be a URI')
    expect(at('5:14')).toContain('the owner')
    expect(at('6:7')).toContain('4 cells, but the ')
    expect(at('7:6')).toContain('the uri takes 720 bytes as UTF-8')
    expect(at('8:1')).toContain('never closed')
    expect(await json(['collections', 'get', into])).toMatchObject({ num_minted: 0 })
    const heads: [string[], string][] = [
      [['name,link', 'a,https://a.b'], ':1:1: no column is known as the uri ("link"): name it uri'],
      [['name,owner', `a,${address}`], ':1:1: no column is known as the uri: name one uri'],
      [['name,uri,name', 'a,https://a.b,b'], ':1:10: name and name could both be the name: remove one'],
      [['name,uri'], ':1:1: no rows'],
      [['name;uri', 'a;https://a.b'], ':1:1: cells are separated by commas, not by ";"'],
      [
        ['a,https://a.b', `b,https://b.c,${address}`],
        ':2:15: 3 cells, but the first row has 2; a text with a comma needs quotes',
      ],
    ]
    for (const [rows, message] of heads) {
      const file = list('head.csv', rows)
      expect(await refused(['nfts', 'mint', '--collection', into, '--from', file])).toContain(`${file}${message}`)
    }
  })

  itInSoak('refuses a list that the payer cannot pay for, before the first is minted', async () => {
    const poor = Keypair.generate()
    const keypair = cli.file('poor.json', JSON.stringify([...poor.secretKey]), 0o600)
    await json(['localnet', 'airdrop', poor.publicKey.toBase58(), '0.02'])
    const made = await json(['collections', 'create', '--name', 'P', '--uri', 'https://a.b/p', '-k', keypair])
    const file = list('poor.csv', numbered(12))
    const mint = ['nfts', 'mint', '--collection', made.collection, '--from', file, '-k', keypair]
    const lamports = async () => BigInt((await json(['accounts', 'get', poor.publicKey.toBase58()])).lamports)
    const before = await lamports()
    const { exitCode, stderr } = await svc(mint)
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/ SOL is needed: nothing was signed or sent/)])
    expect(await lamports()).toBe(before)
    expect(await json(['collections', 'get', made.collection])).toMatchObject({ num_minted: 0 })
    await json(['localnet', 'airdrop', poor.publicKey.toBase58(), '1'])
    const done = await svc(mint)
    expect([done.exitCode, done.stderr]).toEqual([0, expect.stringContaining('12 minted of 12')])
    const said = / total {5}0\.(\d+) SOL /.exec(done.stderr)?.[1] ?? ''
    // The rent of a shorter name is less.
    const rest = BigInt(said.padEnd(9, '0')) - (before + 1_000_000_000n - (await lamports()))
    expect([rest >= 0n, rest < 200_000n], done.stderr).toEqual([true, true])
    expect(await json(['collections', 'get', made.collection])).toMatchObject({ num_minted: 12 })
  })
})
