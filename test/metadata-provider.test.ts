/** Token metadata from a provider: a real server that knows one asset and misbehaves on demand. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readProviderAsset } from '../src/chain/reads/metadata-provider.ts'
import type { ApiError } from '../src/platform/errors.ts'
import { TOKEN_PROGRAM } from '../src/solana/program-ids.ts'
import { type DasHandler as Handler, dasAnswer as rpc, startDas } from './support/das-server.ts'
import { startService } from './support/service.ts'
import { mintData } from './support/token-accounts.ts'

const KNOWN = Keypair.generate().publicKey.toBase58()
const UNKNOWN = Keypair.generate().publicKey.toBase58()
const ASSET = { interface: 'FungibleToken', id: KNOWN, content: { metadata: { name: 'My Token', symbol: 'MTK' } } }
const SECRET = 'a-secret-key'

const notFound = { code: -32000, message: 'Database Error: RecordNotFound Error: Asset Not Found' }
const provider: Handler = ({ method, params }) =>
  method === 'getAsset' && params.id === KNOWN ? rpc({ result: ASSET }) : rpc({ error: notFound })

/** Answers where it listens: a URL with a key in path, query and user, as providers have them. */
async function serve(handler: Handler) {
  const { host, seen, close } = await startDas(handler)
  onTestFinished(close)
  return { host, seen, url: `http://user:${SECRET}@${host}/${SECRET}?api-key=${SECRET}` }
}

async function faultOf(handler: Handler, limitMs?: number): Promise<{ error: ApiError; host: string }> {
  const { url, host } = await serve(handler)
  const error = await readProviderAsset(url, KNOWN, limitMs === undefined ? {} : { limitMs }).then(
    () => expect.unreachable(),
    (thrown: ApiError) => thrown,
  )
  return { error, host }
}

describe('a metadata provider', () => {
  it('returns the asset that it knows, asked as the standard says', async () => {
    const { url, seen } = await serve(provider)
    expect(await readProviderAsset(url, KNOWN)).toEqual(ASSET)
    expect(JSON.parse(seen[0]!.body)).toEqual({ jsonrpc: '2.0', id: 'svc', method: 'getAsset', params: { id: KNOWN } })
    expect(seen[0]!.authorization).toBe(`Basic ${Buffer.from(`user:${SECRET}`).toString('base64')}`)
  })

  it('returns null for an unknown asset, in each way in which providers say so', async () => {
    expect(await readProviderAsset((await serve(provider)).url, UNKNOWN)).toBeNull()
    expect(await readProviderAsset((await serve(() => rpc({ result: null }))).url, KNOWN)).toBeNull()
    const status = await serve(() => ({ status: 404, ...rpc({ error: notFound }) }))
    expect(await readProviderAsset(status.url, KNOWN)).toBeNull()
  })

  it('keeps integers exact that are too large for a JSON number', async () => {
    const text = String.raw`{"result":{"supply":18446744073709551615,"low":-9007199254740993,"safe":9007199254740991,"price":0.12345678901234567890,"text":"\"x\" 18446744073709551615","18446744073709551615":[1e3]}}`
    expect(await readProviderAsset((await serve(() => ({ text }))).url, KNOWN)).toEqual({
      supply: '18446744073709551615',
      low: '-9007199254740993',
      safe: 9007199254740991,
      price: 0.12345678901234568,
      text: '"x" 18446744073709551615',
      '18446744073709551615': [1000],
    })
  })

  it.each<[string, Handler, RegExp]>([
    ['answers 500', () => ({ status: 500, text: `oops ${SECRET}` }), /answers HTTP 500$/],
    ['refuses', () => rpc({ error: { code: -32401, message: `bad key ${SECRET}` } }), /refuses \(code -32401\)$/],
    ['answers garbage', () => ({ text: `<html>${SECRET}` }), /answers something that is not JSON-RPC$/],
    ['answers JSON of another kind', () => ({ text: '[1]' }), /answers something that is not JSON-RPC$/],
    ['hangs', () => 'hang', /cannot be reached \(no answer in time\)$/],
    ['breaks off', () => 'break', /cannot be reached \(.+\)$/],
  ])('that %s is an error that names only its host', async (how, handler, why) => {
    const { error, host } = await faultOf(handler, how === 'hangs' ? 200 : undefined)
    expect([error.code, error.message]).toEqual(['internal_error', expect.stringMatching(why)])
    expect(error.message).toContain(`The metadata provider ${host} `)
    expect(JSON.stringify([error.message, error.details, error.stack, error.cause])).not.toContain(SECRET)
  })
})

describe('a token read with metadata-url', () => {
  async function tokenWith(handler: Handler | undefined) {
    const logged: unknown[] = []
    const nothing = () => {}
    const log = { debug: nothing, info: nothing, error: nothing, warn: (...args: unknown[]) => logged.push(args) }
    const provided = handler && (await serve(handler))
    const settings = provided === undefined ? {} : { 'metadata-url': provided.url }
    const { request, services } = await startService({ settings, log })
    const chain = await services.chain.local()
    const account = { lamports: 10n ** 9n, owner: TOKEN_PROGRAM, data: mintData(2, 5n), executable: false }
    chain.setAccount(KNOWN, account)
    chain.setAccount(UNKNOWN, account)
    const read = async (mint: string) => (await request('GET', `/v2/tokens/${mint}`)).json.data
    return { read, logged }
  }
  const decoded = {
    token_program: 'spl',
    decimals: 2,
    supply: '5',
    mint_authority: null,
    freeze_authority: null,
    metadata: null,
  }

  it('shows the data of the provider, and the data of the chain where the provider has none', async () => {
    const { read, logged } = await tokenWith(provider)
    expect(await read(KNOWN)).toEqual({ mint: KNOWN, status: 'fully_immutable', raw: ASSET })
    expect(await read(UNKNOWN)).toEqual({ mint: UNKNOWN, status: 'fully_immutable', raw: decoded })
    expect(logged).toEqual([])
    const without = await tokenWith(undefined)
    expect((await without.read(KNOWN)).raw).toEqual(decoded)
  })

  it('shows the data of the chain if the provider fails, and logs a warning without its URL', async () => {
    const { read, logged } = await tokenWith(() => ({ status: 500, text: SECRET }))
    expect(await read(KNOWN)).toEqual({ mint: KNOWN, status: 'fully_immutable', raw: decoded })
    expect(logged).toMatchObject([
      [{ mint: KNOWN, err: { message: expect.stringContaining('HTTP 500') } }, expect.any(String)],
    ])
    expect((logged[0] as [{ err: Error }])[0].err.stack).not.toContain(SECRET)
  })
})
