/** Signers at real servers of each provider: what they sign, and what each failure says about whether something was signed. */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openConfiguredSigner, type Signer, SignerUnavailable } from '../../src/chain/signer/index.ts'
import { signatureHolds } from '../../src/solana/signatures.ts'
import { type Misbehaviour, signerConfig, testKey } from '../support/signer-keys.ts'
import { startKms, startPrivy, startTestVault, startTurnkey, type TestProvider } from '../support/signer-providers.ts'
import { startVault } from '../support/vault-server.ts'

const PROVIDERS = { vault: startTestVault, turnkey: startTurnkey, privy: startPrivy, 'aws-kms': startKms }
const NO_WAIT = { wait: async () => {} }

const hash = (message: Uint8Array) => createHash('sha256').update(message).digest('hex')
const holds = (message: Uint8Array, signature: Uint8Array, address: string) =>
  signatureHolds({ signatures: [signature], messageBytes: message, message: { keys: [address] } } as never, 0)

async function openAt({ settings }: { settings: Record<string, string> }, options = {}): Promise<Signer> {
  return (await openConfiguredSigner(signerConfig(settings), { ...NO_WAIT, ...options }))!
}

async function failureOf(work: Promise<unknown>): Promise<SignerUnavailable> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(SignerUnavailable)
  return error as SignerUnavailable
}

/** Everything that a log could show of an error. */
const shown = (error: Error) =>
  [error.message, error.stack, JSON.stringify(error), inspect(error, { depth: null, showHidden: true })].join('\n')

afterEach(() => vi.unstubAllEnvs())

describe.each(Object.keys(PROVIDERS) as (keyof typeof PROVIDERS)[])('a signer at %s', (name) => {
  let provider: TestProvider
  beforeAll(async () => {
    provider = await PROVIDERS[name]()
  })
  afterAll(() => provider.close())

  const open = async (options = {}) => {
    if (name === 'aws-kms') vi.stubEnv('AWS_ENDPOINT_URL_KMS', provider.url)
    provider.misbehave(undefined)
    provider.requests.length = 0
    const signer = await openAt(provider, options)
    return signer
  }
  const signRequests = () => provider.requests.filter(({ path, headers }) => signsBy(path, headers['x-amz-target']))
  const signsBy = (path: string, target: unknown) =>
    /\/sign\/|\/submit\/|\/rpc$/.test(path) || target === 'TrentService.Sign'

  it('signs exactly the message bytes, once', async () => {
    const signer = await open()
    expect(signer).toMatchObject({ provider: name, address: provider.key.address })
    // The largest message of version 1 has 4,096 bytes less one signature.
    const messages = [1, 32, 300, 1_232, 4_032].map((length) => randomBytes(length))
    messages.at(-1)!.set([0x81])
    for (const message of messages) {
      const signature = await signer.sign(message)
      expect(signature).toHaveLength(64)
      expect(holds(message, signature, provider.key.address)).toBe(true)
      expect(provider.signatures.get(hash(message))).toBe(1)
    }
    expect(signRequests()).toHaveLength(messages.length)
  })

  it('signs the bytes of the moment of the call', async () => {
    const signer = await open()
    const message = Uint8Array.from(randomBytes(100))
    const before = Uint8Array.from(message)
    const signing = signer.sign(message)
    message.fill(0)
    expect(holds(before, await signing, provider.key.address)).toBe(true)
  })

  it('passes a check, which signs no message of a transaction', async () => {
    const signer = await open()
    const before = new Set(provider.signatures.keys())
    await signer.check()
    await signer.check()
    const added = [...provider.signatures.keys()].filter((made) => !before.has(made))
    // Those that tell no address sign one text for it, once.
    expect(added.length).toBeLessThanOrEqual(name === 'vault' || name === 'privy' ? 0 : 1)
  })

  it('with another key is refused by a check and by the signature itself', async () => {
    const other = { settings: { ...provider.settings, 'signer.public-key': testKey().address } }
    await open()
    const signer = await openAt(other)
    const checked = await failureOf(signer.check())
    expect(checked.signed).toBe('no')
    expect(checked.message).toMatch(/signer\.public-key/)
    const message = randomBytes(80)
    const failure = await failureOf(signer.sign(message))
    // Privy says its address before it signs.
    expect(failure.signed).toBe(name === 'privy' ? 'no' : 'unknown')
    expect(failure.message).toContain('signer.public-key')
    expect(provider.signatures.get(hash(message))).toBe(name === 'privy' ? undefined : 1)
  })

  const FAILURES: [Misbehaviour, 'no' | 'unknown', number, RegExp][] = [
    ['busy', 'no', 3, /answered HTTP 429: .*try again later$/],
    ['unavailable', 'no', 3, /answered HTTP 503: .*try again later$/],
    ['forbidden', 'no', 1, /answered HTTP 403: .*signer\./],
    ['redirects', 'no', 1, /answered HTTP 307: .*final address$/],
    ['fails after signing', 'unknown', 1, /answered HTTP 500: .*a signature may exist there$/],
    ['wrong signature', 'unknown', 1, /not that of .* over this message, and it was not used/],
    ['signature of another message', 'unknown', 1, /not that of .* over this message, and it was not used/],
    ['torn answer', 'unknown', 1, /no signature that can be read.*a signature may exist there$/],
    ['no signature', 'unknown', 1, /no signature that can be read.*a signature may exist there$/],
    ['breaks off', 'unknown', 1, /broke the connection before its answer was complete.*a signature may exist there$/],
  ]

  it.each(FAILURES)('that meets "%s" says signed: %s after %i requests', async (how, signed, requests, message) => {
    const signer = await open()
    await signer.sign(randomBytes(8))
    const asked = signRequests().length
    provider.misbehave(how)
    const failure = await failureOf(signer.sign(randomBytes(80)))
    expect(failure.message).toMatch(message)
    expect(failure.signed).toBe(signed)
    expect(signRequests().length - asked).toBe(requests)
    for (const secret of provider.secrets) expect(shown(failure)).not.toContain(secret)
    expect(failure.cause).toBeUndefined()
    provider.misbehave(undefined)
    await signer.sign(randomBytes(8))
  })

  it.each(['busy', 'unavailable'] as const)('succeeds after it was "%s" twice', async (how) => {
    const signer = await open()
    await signer.sign(randomBytes(8))
    const asked = signRequests().length
    provider.misbehave(how, 2)
    const message = randomBytes(80)
    expect(holds(message, await signer.sign(message), provider.key.address)).toBe(true)
    expect(signRequests().length - asked).toBe(3)
    expect(provider.signatures.get(hash(message))).toBe(1)
  })

  it.each(['hangs', 'hangs after signing'] as const)('that "%s" is given up at its limit', async (how) => {
    const signer = await open({ timeoutMs: 700 })
    await signer.sign(randomBytes(8))
    const asked = signRequests().length
    provider.misbehave(how)
    const failure = await failureOf(signer.sign(randomBytes(80)))
    // One that waits for the provider waits for ever.
    expect(failure.signed).toBe('unknown')
    expect(failure.message).toMatch(/gave no answer within 700 ms; a signature may exist there$/)
    expect(signRequests().length - asked).toBe(1)
  })

  it('stays within its time limit while it waits to retry', async () => {
    const signer = await open({ timeoutMs: 1_000, wait: () => new Promise(() => {}) })
    provider.misbehave('busy')
    const failure = await failureOf(signer.sign(randomBytes(80)))
    expect(failure.signed).toBe('no')
    expect(failure.message).toMatch(/gave no answer within 1000 ms$/)
  })

  it('that may not read says so in a check, without its secrets', async () => {
    const signer = await open()
    provider.misbehave('forbidden')
    const failure = await failureOf(signer.check())
    expect(failure.signed).toBe('no')
    expect(failure.message).toMatch(/HTTP 403: .*signer\./)
    for (const secret of provider.secrets) expect(shown(failure)).not.toContain(secret)
    for (const secret of provider.secrets)
      expect(inspect(signer, { depth: null, showHidden: true })).not.toContain(secret)
  })

  it('sends everything through its given fetch, and leaves the global one unchanged', async () => {
    const asked: string[] = []
    const counting: typeof fetch = (input, init) => {
      asked.push(String(input))
      return fetch(input, init)
    }
    const signer = await open({ fetch: counting })
    await signer.sign(randomBytes(80))
    expect(asked.length).toBe(provider.requests.length)
    await fetch(`${provider.url}/elsewhere`, { method: 'POST', body: '{}' })
    expect(asked.length).toBe(provider.requests.length - 1)
  })
})

describe('a signer whose provider cannot be reached', () => {
  const gone = async () => {
    const server: Server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    await new Promise((done) => server.close(done))
    return port
  }

  it.each(Object.keys(PROVIDERS) as (keyof typeof PROVIDERS)[])(
    'says that %s refuses connections, and that nothing was signed',
    async (name) => {
      const provider = await PROVIDERS[name]()
      await provider.close()
      if (name === 'aws-kms') vi.stubEnv('AWS_ENDPOINT_URL_KMS', provider.url)
      let waits = 0
      const signer = await openAt(provider, { wait: async () => void waits++ })
      const failure = await failureOf(signer.sign(randomBytes(80)))
      expect(failure.signed).toBe('no')
      expect(failure.message).toMatch(/refuses connections: .* signer\./)
      expect(waits).toBe(2)
      expect((await failureOf(signer.check())).message).toMatch(/refuses connections/)
    },
  )

  it('succeeds if it comes up in time', async () => {
    const port = await gone()
    const key = testKey()
    let vault: Awaited<ReturnType<typeof startVault>> | undefined
    const settings = {
      signer: 'vault',
      'signer.vault-url': `http://127.0.0.1:${port}`,
      'signer.vault-key': 'launches',
      'signer.vault-token': 'hvs.TOPSECRETTOKEN',
      'signer.public-key': key.address,
    }
    const wait = async () => {
      vault ??= await startVault({ key, port })
    }
    const message = randomBytes(80)
    const signer = await openAt({ settings }, { wait })
    expect(holds(message, await signer.sign(message), key.address)).toBe(true)
    expect(vault!.requests).toHaveLength(1)
    await vault!.close()
  })

  it('says that a host name does not resolve', async () => {
    const vault = await startVault()
    await vault.close()
    const settings = { ...vault.settings, 'signer.vault-url': 'https://vault.invalid' }
    // DNS answers as it does for a name that is not there, whatever this machine's resolver says.
    const unknown = async () => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }) })
    }
    const failure = await failureOf((await openAt({ settings }, { fetch: unknown })).sign(randomBytes(8)))
    expect(failure).toMatchObject({ signed: 'no' })
    expect(failure.message).toBe('Vault at vault.invalid has a host name that does not resolve: check signer.vault-url')
  })
})

describe('a key in Vault', () => {
  it('that was rotated signs with its latest version', async () => {
    const vault = await startVault({ version: 3 })
    const signer = await openAt(vault)
    await signer.check()
    const message = randomBytes(80)
    expect(holds(message, await signer.sign(message), vault.key.address)).toBe(true)
    await vault.close()
  })

  it('of another type, and a missing one, have different errors', async () => {
    const vault = await startVault({ type: 'ecdsa-p256' })
    expect((await failureOf((await openAt(vault)).check())).message).toMatch(/must be one of type ed25519/)
    const settings = { ...vault.settings, 'signer.vault-key': 'elsewhere' }
    const absent = await failureOf((await openAt({ settings })).sign(randomBytes(8)))
    expect(absent).toMatchObject({ signed: 'no' })
    expect(absent.message).toMatch(/HTTP 404: is there a key elsewhere .* signer\.vault-key$/)
    await vault.close()
  })
})

it('a signer reports that an activity at Turnkey waits for others', async () => {
  const turnkey = await startTurnkey(testKey(), 'ACTIVITY_STATUS_CONSENSUS_NEEDED')
  const failure = await failureOf((await openAt(turnkey)).sign(randomBytes(80)))
  expect(failure.signed).toBe('unknown')
  expect(failure.message).toMatch(/ACTIVITY_STATUS_CONSENSUS_NEEDED; the policies there/)
  await turnkey.close()
})

it('signers keep parallel calls apart', async () => {
  const [one, other] = await Promise.all([startVault(), startVault()])
  const [first, second] = await Promise.all([openAt(one), openAt(other)])
  other.misbehave('forbidden')
  const messages = Array.from({ length: 40 }, () => randomBytes(80))
  const results = await Promise.allSettled(messages.map((message, i) => (i % 2 ? second : first).sign(message)))
  results.forEach((result, i) => {
    expect(result.status).toBe(i % 2 ? 'rejected' : 'fulfilled')
    if (result.status === 'fulfilled') expect(holds(messages[i]!, result.value, one.key.address)).toBe(true)
  })
  await Promise.all([one.close(), other.close()])
})

describe('a call to a provider', () => {
  const SETTINGS = {
    signer: 'vault',
    'signer.vault-url': 'https://vault.test',
    'signer.vault-key': 'launches',
    'signer.vault-token': 'hvs.TOPSECRET',
    'signer.public-key': testKey().address,
  }

  it('takes ten seconds at most, loading and retries included', async () => {
    await import('@solana/keychain-vault')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let asked = 0
    const fetch = () => {
      asked += 1
      return asked === 1 ? Promise.resolve(new Response(null, { status: 429 })) : new Promise<Response>(() => {})
    }
    const signer = (await openConfiguredSigner(signerConfig(SETTINGS), { fetch }))!
    let failure: unknown
    const signing = signer.sign(randomBytes(8)).catch((error: unknown) => {
      failure = error
    })
    await vi.advanceTimersByTimeAsync(9_999)
    expect([asked, failure]).toEqual([2, undefined])
    await vi.advanceTimersByTimeAsync(1)
    await signing
    expect(failure).toMatchObject({ signed: 'unknown', message: expect.stringContaining('within 10000 ms') })
  })

  it('waits as long as the answer says, and does not retry if that is more than two seconds', async () => {
    const waits: number[] = []
    const answers = ['1', '60'].map((after) => new Response(null, { status: 429, headers: { 'retry-after': after } }))
    const fetch = async () => answers.shift() ?? new Response(null, { status: 404 })
    const wait = async (milliseconds: number) => void waits.push(milliseconds)
    await failureOf((await openAt({ settings: SETTINGS }, { fetch, wait })).sign(randomBytes(8)))
    expect(waits).toEqual([1_000])
  })

  it('uses a global fetch that was replaced after the first call', async () => {
    const vault = await startVault()
    const signer = await openAt(vault)
    await signer.sign(randomBytes(8))
    const real = globalThis.fetch
    onTestFinished(() => {
      globalThis.fetch = real
      return vault.close()
    })
    let seen = 0
    globalThis.fetch = (input, init) => {
      seen += 1
      return real(input, init)
    }
    vault.misbehave('fails after signing')
    expect(await failureOf(signer.sign(randomBytes(8)))).toMatchObject({ signed: 'unknown' })
    expect(seen).toBe(1)
  })

  it('to KMS with a slow key store may have led to a signature, and is not repeated', async () => {
    let asked = 0
    const fetch = async () => {
      asked += 1
      return Response.json({ __type: 'DependencyTimeoutException' }, { status: 503 })
    }
    const kms = await startKms()
    await kms.close()
    const failure = await failureOf((await openAt(kms, { fetch })).sign(randomBytes(8)))
    expect([failure.signed, asked]).toEqual(['unknown', 1])
  })
})
