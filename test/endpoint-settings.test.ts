/** The setting `rpc-urls`: what is accepted, which of `url` and `rpc-urls` counts, and that no key is shown. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clusterOf, endpointsOf, publicRpcUrl } from '../src/settings/cluster.ts'
import { ConfigError, loadConfig, parseSetting, shownSetting } from '../src/settings/config.ts'
import { MOST_ENDPOINTS } from '../src/settings/endpoint-settings.ts'
import { redactorOf } from '../src/settings/redaction.ts'
import { temporaryFolder } from './support/service.ts'

const parse = (raw: unknown, origin = 'SVC_RPC_URLS') => parseSetting('rpc-urls', raw, origin)
const load = (env: Record<string, string>, rest: Parameters<typeof loadConfig>[0] = {}) => {
  const folder = temporaryFolder()
  return loadConfig({ env: { HOME: folder, ...env }, cwd: folder, ...rest })
}
const refusal = (run: () => unknown): ConfigError => {
  try {
    run()
  } catch (error) {
    if (error instanceof ConfigError) return error
  }
  return expect.unreachable('it was accepted')
}

describe('rpc-urls', () => {
  it('takes URLs separated by commas, or JSON with weights and headers', () => {
    expect(parse(' https://a.test/k , http://b.test:8899 ')).toEqual([
      { url: 'https://a.test/k', weight: 1, headers: {} },
      { url: 'http://b.test:8899', weight: 1, headers: {} },
    ])
    const json = ['https://a.test', { url: 'https://b.test', weight: 3, headers: { 'X-Api-Key': 'secret word' } }]
    const parsed = [
      { url: 'https://a.test', weight: 1, headers: {} },
      { url: 'https://b.test', weight: 3, headers: { 'x-api-key': 'secret word' } },
    ]
    expect([parse(JSON.stringify(json)), parse(json), parse(parsed)]).toEqual([parsed, parsed, parsed])
  })

  it.each([
    ['', 'is an empty list'],
    ['[]', 'is an empty list'],
    ['[{', 'must be URLs separated by commas'],
    ['{"url":"https://a.test"}', 'must be URLs separated by commas'],
    [7, 'must be URLs separated by commas'],
    ['https://a.test,ftp://b.test', 'has a URL that is not an http or https URL (endpoint 2)'],
    ['https://a.test,,', 'has a URL that is not an http or https URL (endpoint 2)'],
    ['https://a.test,https://A.test/', 'names one URL twice (endpoint 2)'],
    [Array.from({ length: 17 }, (_, i) => `https://n${i}.test`).join(','), 'has 17 endpoints; at most 16'],
    [`https://a.test/${'k'.repeat(2_048)}`, 'has a URL of more than 2048 characters (endpoint 1)'],
    [[{ url: 'https://a.test', weight: 0 }], 'has a weight that is not a whole number from 1 to 100 (endpoint 1)'],
    [[{ url: 'https://a.test', weight: 1.5 }], 'has a weight that is not a whole number'],
    [[{ url: 'https://a.test', wieght: 1 }], 'has a field other than url, weight and headers'],
    [[null], 'is neither a URL nor an object'],
    [[{ url: 'https://a.test', headers: [] }], 'has headers that are not an object'],
    [[{ url: 'https://a.test', headers: { Host: 'b' } }], 'has the header host, which svc sets itself'],
    [[{ url: 'https://a.test', headers: { 'Content-Length': '1' } }], 'has the header content-length, which svc'],
    [[{ url: 'https://a.test', headers: { 'x y': '1' } }], 'has a header with an invalid name'],
    [[{ url: 'https://a.test', headers: { 'x-k': 'a\r\nhost: b' } }], 'has the header x-k with a value that is not'],
    [[{ url: 'https://a.test', headers: { 'x-k': 1 } }], 'has the header x-k with a value that is not'],
    [[{ url: 'https://a.test', headers: { 'x-k': '1', 'X-K': '2' } }], 'has one header twice'],
  ])('refuses %j and names the place', (raw, message) => {
    const { problem, next } = refusal(() => parse(raw))
    expect(problem).toContain(`rpc-urls (SVC_RPC_URLS) ${message}`)
    expect(next).toContain('JSON array')
  })

  it('refuses headers on a command line, where other users of the machine can read them', () => {
    const text = '[{"url":"https://a.test","headers":{"x-key":"hidden"}}]'
    const { problem, next } = refusal(() => parse(text, '--rpc-urls'))
    expect([problem, next]).toEqual([expect.stringContaining('has headers'), 'set SVC_RPC_URLS to it instead'])
    expect(refusal(() => load({}, { flags: { 'rpc-urls': text } })).problem).not.toContain('hidden')
  })

  it('repeats no part of a refused value', () => {
    const secret = 'TOPSECRET'
    const part = fc.oneof(fc.string(), fc.constant(secret), fc.integer(), fc.constant(null))
    const item = fc.oneof(part, fc.record({ url: part, weight: part, headers: fc.dictionary(fc.string(), part) }))
    fc.assert(
      fc.property(fc.oneof(part, fc.array(item, { maxLength: 20 })), (raw) => {
        try {
          const value = parse(raw) as unknown[]
          expect(value.length).toBeLessThanOrEqual(MOST_ENDPOINTS)
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError)
          expect((error as ConfigError).problem).not.toContain(secret)
        }
      }),
    )
  })
})

describe('a key in an endpoint', () => {
  const env = {
    SVC_RPC_URLS: JSON.stringify([
      'https://a.test/v2/KEYINPATH123',
      { url: 'https://user:PASSWORD99@b.test/', weight: 5, headers: { authorization: 'Bearer TOKENWORD77' } },
    ]),
  }

  it('is hidden in the setting as shown; the host is visible', () => {
    expect(shownSetting('rpc-urls', load(env).values['rpc-urls'])).toEqual(['a.test', 'b.test x5'])
    expect(shownSetting('rpc-urls', 'broken by hand SECRET')).toBe('(not readable)')
  })

  it('is removed from every message and document', () => {
    const { text, json } = redactorOf(load(env))
    const said = 'at https://a.test/v2/KEYINPATH123 and https://b.test with PASSWORD99, Bearer TOKENWORD77'
    for (const clean of [text(said), json(JSON.stringify({ said }))]) {
      expect(clean).not.toMatch(/KEYINPATH123|PASSWORD99|TOKENWORD77/)
      expect(clean).toContain('a.test')
    }
  })
})

it('answers show only the host of the first endpoint, also if url names a public cluster', () => {
  const SVC_RPC_URLS = 'https://a.test/KEYINPATH,https://b.test'
  for (const env of [{ SVC_RPC_URLS }, { SVC_RPC_URLS, SVC_URL: 'mainnet-beta' }]) {
    const config = load(env)
    expect(publicRpcUrl(config, clusterOf(config))).toBe('https://a.test')
  }
})

describe('if url and rpc-urls are both set', () => {
  const SVC_RPC_URLS = 'https://a.test/k,https://b.test'
  const clusterIn = (config: ReturnType<typeof load>) => {
    const { kind, label } = clusterOf(config)
    return [kind, label, endpointsOf(config).length]
  }

  it('the layer with higher precedence wins', () => {
    expect(clusterIn(load({ SVC_RPC_URLS }))).toEqual(['custom', 'a.test and 1 more', 2])
    expect(clusterIn(load({ SVC_RPC_URLS }, { flags: { url: 'https://c.test' } }))).toEqual(['custom', 'c.test', 1])
    expect(clusterIn(load({ SVC_RPC_URLS }, { flags: { url: 'embedded' } }))).toEqual(['embedded', 'embedded', 0])
    const profile = { url: 'https://c.test' }
    expect(clusterIn(load({ SVC_RPC_URLS }, { profile }))).toEqual(['custom', 'a.test and 1 more', 2])
    expect(clusterIn(load({ SVC_URL: 'devnet' }, { profile: { 'rpc-urls': SVC_RPC_URLS } }))).toEqual([
      'devnet',
      'devnet',
      1,
    ])
  })

  it('a public cluster in url says which cluster the endpoints must serve', () => {
    expect(clusterIn(load({ SVC_RPC_URLS, SVC_URL: 'm' }))).toEqual(['mainnet-beta', 'mainnet-beta', 2])
    expect(clusterIn(load({ SVC_RPC_URLS }, { profile: { url: 'devnet' } }))).toEqual(['devnet', 'devnet', 2])
  })

  it('two different nodes in one layer are refused', () => {
    for (const SVC_URL of ['https://c.test', 'embedded', 'localhost']) {
      expect(refusal(() => load({ SVC_RPC_URLS, SVC_URL })).problem).toContain('url and rpc-urls are both set')
    }
  })

  it('a single endpoint in rpc-urls acts like url, with its headers', () => {
    const one = load({ SVC_RPC_URLS: '[{"url":"https://a.test","headers":{"x-key":"value1"}}]' })
    expect(clusterIn(one)).toEqual(['custom', 'a.test', 1])
    expect(endpointsOf(one)[0]?.headers).toEqual({ 'x-key': 'value1' })
  })
})
