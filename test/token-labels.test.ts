/** Labels of many mints through the app, on the embedded chain: what strangers wrote there is shown clean or not at all. */
import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { metadataAddressOf } from '../src/chain/programs/tokens/index.ts'
import { cleanLabel } from '../src/operations/tokens/labels.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../src/solana/program-ids.ts'
import { fieldType } from '../src/solana/programs/field-types.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { commandLine } from './cli/command-line.ts'
import { startService } from './support/service.ts'
import { extended, mintData } from './support/token-accounts.ts'
import { keypairOf, someAddress } from './support/wallets.ts'

const written = (text: string) => fieldType('string').write(text)
const METADATA_PROGRAM = PROGRAMS.tokenMetadata.id

/** An account of Metaplex Token Metadata, with its texts padded by zeros as the program does. */
function metaplexData(mint: string, name: string, symbol: string): Buffer {
  const padded = (text: string, bytes: number) => written(text + '\0'.repeat(bytes - Buffer.byteLength(text)))
  const [none, mutable] = [0, 1]
  const texts = [padded(name, 32), padded(symbol, 10), padded('', 200)]
  return Buffer.concat([
    Buffer.from([4]),
    Buffer.alloc(32, 7),
    new PublicKey(mint).toBuffer(),
    ...texts,
    Buffer.from([0, 0, none, 0, mutable]),
  ])
}

/** A mint of Token-2022 with a metadata pointer and, in the mint, metadata. */
function extendedMint(mint: string, pointed: string, name: string, symbol: string): Buffer {
  const key = new PublicKey(mint).toBuffer()
  const metadata = [Buffer.alloc(32, 7), key, ...[name, symbol, ''].map(written), Buffer.alloc(4)]
  return extended(mintData(2), 1, [
    [18, Buffer.concat([Buffer.alloc(32), new PublicKey(pointed).toBuffer()])],
    [19, Buffer.concat(metadata)],
  ])
}

async function labelled() {
  const service = await startService()
  const chain = await service.services.chain.local()
  const put = (address: string, owner: string, data: Uint8Array) =>
    chain.setAccount(address, { lamports: 10_000_000n, owner, executable: false, data })
  const ask = async (mints: string[]) => {
    const { status, json } = await service.request('POST', '/v2/tokens/batch-fetch', { body: { mints } })
    expect(status, JSON.stringify(json)).toBe(200)
    return json.data.tokens
  }
  const spl = async (name: string, symbol: string, { owner = METADATA_PROGRAM as string, of = '' } = {}) => {
    const mint = someAddress()
    put(mint, TOKEN_PROGRAM, mintData(6))
    put(await metadataAddressOf(mint), owner, metaplexData(of || mint, name, symbol))
    return mint
  }
  return { ...service, chain, put, ask, spl }
}

describe('labels of tokens', () => {
  it('come in the order asked, repeats too, with null where there is no mint', async () => {
    const { request, chain, ask, spl } = await labelled()
    const payer = Keypair.generate()
    const address = payer.publicKey.toBase58()
    chain.airdrop(address, 10_000_000_000n)
    const { json } = await request('POST', '/v2/tokens', {
      body: {
        ...{ payer: address, name: 'My Token', symbol: 'MTK', uri: 'https://example.com/t.json' },
        ...{ initial_supply: '1', decimals: 3, token_program: 'token2022' },
      },
    })
    const { mint, transaction, required_signers } = json.data
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    signed.sign([payer, keypairOf(required_signers.mint_secret_key)])
    expect(chain.send(signed.serialize()).err).toBe(null)
    const metaplex = await spl('Wrapped Thing', 'WTH')

    const made = { mint, symbol: 'MTK', name: 'My Token', decimals: 3, token_program: 'token2022' }
    expect(await ask([mint, address, WRAPPED_SOL, someAddress(), metaplex, mint])).toEqual([
      made,
      null,
      { mint: WRAPPED_SOL, symbol: 'SOL', name: 'Wrapped SOL', decimals: 9, token_program: 'spl' },
      null,
      { mint: metaplex, symbol: 'WTH', name: 'Wrapped Thing', decimals: 6, token_program: 'spl' },
      made,
    ])
  })

  it('are null where a mint has no metadata, or where what stands in its place is not its own', async () => {
    const { put, ask, spl } = await labelled()
    const bare = someAddress()
    put(bare, TOKEN_PROGRAM, mintData(6))
    const forged = await spl('Forged', 'FRG', { owner: TOKEN_PROGRAM })
    const moved = await spl('Of Another', 'OTH', { of: bare })
    const cut = someAddress()
    put(cut, TOKEN_PROGRAM, mintData(6))
    put(await metadataAddressOf(cut), METADATA_PROGRAM, metaplexData(cut, 'Cut off', 'CUT').subarray(0, 70))
    const elsewhere = someAddress()
    put(elsewhere, TOKEN_2022_PROGRAM, extendedMint(elsewhere, someAddress(), 'Disowned', 'DIS'))
    const mints = [bare, forged, moved, cut, elsewhere]
    expect((await ask(mints)).map(({ mint, symbol, name }: Record<string, unknown>) => [mint, symbol, name])).toEqual(
      mints.map((mint) => [mint, null, null]),
    )
  })

  it('have no character that cannot be seen, and are no longer than the chain has room for', async () => {
    const { put, ask, spl } = await labelled()
    const turned = await spl('Safe\u202egnol\u001b[31m\u0007', '\u2066US\u200bDC')
    const unseen = await spl('\u3164\u200b\u2800', ' \u202e ')
    const long = someAddress()
    put(long, TOKEN_2022_PROGRAM, extendedMint(long, long, 'n'.repeat(5_000), '\u{1f600}'.repeat(500)))
    const [first, second, third] = await ask([turned, unseen, long])
    expect(first).toMatchObject({ name: 'Safe gnol [31m', symbol: 'US DC' })
    expect(second).toMatchObject({ name: null, symbol: null, decimals: 6 })
    expect(third).toMatchObject({ name: 'n'.repeat(32), symbol: '\u{1f600}'.repeat(10), decimals: 2 })
  })

  it('of a hundred mints take two calls of the node', async () => {
    const { services, ask } = await labelled()
    const calls = vi.spyOn(services.chain, 'call')
    onTestFinished(() => calls.mockRestore())
    expect(await ask(Array.from({ length: 100 }, someAddress))).toEqual(Array(100).fill(null))
    expect(calls.mock.calls.map(([method]) => method)).toEqual(['getMultipleAccounts', 'getMultipleAccounts'])
  })
})

it('a label is cut between characters, and marks do not climb out of its line', () => {
  expect(cleanLabel('\u{1f600}'.repeat(11), 10)).toBe('\u{1f600}'.repeat(10))
  expect(cleanLabel(`a${'\u0335'.repeat(40)}b`, 10)).toBe('a\u0335\u0335b')
  expect(cleanLabel('one\r\n  two\t', 32)).toBe('one two')
  expect(cleanLabel('\ud83d', 10)).toBe(null)
  expect(cleanLabel(undefined, 10)).toBe(null)
})

describe('svc tokens labels', () => {
  const cli = commandLine()

  it('shows a row for each mint, and names what is none', async () => {
    const nobody = someAddress()
    const { stdout, stderr, exitCode } = await cli.svc(['tokens', 'labels', WRAPPED_SOL, nobody, '-o', 'plain'])
    expect(exitCode, stderr).toBe(0)
    expect(stdout).toBe(`${WRAPPED_SOL}\tSOL\tWrapped SOL\t9\tspl\n${nobody}\t\t\t\t\n`)
    expect(stderr).toContain(`There is no token mint at ${nobody}`)
  })

  it('stops at a text that is not an address, and names its place', async () => {
    const { stderr, exitCode } = await cli.svc(['tokens', 'labels', WRAPPED_SOL, 'x'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('<mints> item 2: must be a base58 address')])
  })
})
