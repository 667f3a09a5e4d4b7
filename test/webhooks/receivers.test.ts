/** The receivers that are refused, however a private one is written, and what the refusal says. */
import { createSocket } from 'node:dgram'
import { isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkReceiver } from '../../src/operations/webhook-subscriptions/check-receiver.ts'
import {
  askNameServers,
  type Resolve,
  receiverAddresses,
  refusalOf,
} from '../../src/operations/webhook-subscriptions/receiver-address.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { loadConfig } from '../../src/settings/config.ts'

const configOf = (flags: Record<string, unknown> = {}) => loadConfig({ flags, env: {}, cwd: '/' })
const STRICT = configOf()
const PUBLIC_ADDRESS = '93.184.215.14'
const publicly: Resolve = async () => [PUBLIC_ADDRESS]

/** What the refusal says; undefined where there is none. */
async function refusal(url: string, resolve: Resolve = publicly, config = STRICT): Promise<string | undefined> {
  try {
    await checkReceiver({ config, resolve, resolveTimeoutMs: 50 }, url)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    const { code, param, message } = error as ApiError
    expect([code, param]).toEqual(['bad_request', 'url'])
    expect(message).toMatch(/^url: [^\n]+$/)
    return message
  }
}

const PUBLIC = [
  'https://example.com/hooks',
  'https://example.com./hooks',
  'https://EXAMPLE.com/hooks',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://172.32.0.1/',
  'https://100.128.0.1/',
  'https://11.0.0.1/',
  'https://localhost.example.com:8443/?a=b',
  'https://local.example.com/',
  'https://bücher.example/',
  'https://xn--bcher-kva.example/',
  'https://例え.テスト/',
]

/** URL → what names it: the range, or the policy that is broken. */
const REFUSED: readonly (readonly [string, string])[] = [
  // Loopback, in every way that a URL can write it.
  ['https://127.0.0.1/', 'a loopback address'],
  ['https://127.0.0.1./', 'a loopback address'],
  ['https://127.255.255.254/', 'a loopback address'],
  ['https://127.1/', 'a loopback address'],
  ['https://127.0.1/', 'a loopback address'],
  ['https://2130706433/', 'a loopback address'],
  ['https://0x7f000001/', 'a loopback address'],
  ['https://0x7f.0.0.1/', 'a loopback address'],
  ['https://0x7f.1/', 'a loopback address'],
  ['https://0177.0.0.1/', 'a loopback address'],
  ['https://017700000001/', 'a loopback address'],
  ['https://0177.0x0.0.1/', 'a loopback address'],
  ['https://%31%32%37.0.0.1/', 'a loopback address'],
  ['https://１２７.0.0.1/', 'a loopback address'],
  ['https://127。0。0。1/', 'a loopback address'],
  ['https://①②⑦.0.0.1/', 'a loopback address'],
  ['https://[::1]/', 'a loopback address'],
  ['https://[0:0:0:0:0:0:0:1]/', 'a loopback address'],
  ['https://[0000:0000:0000:0000:0000:0000:0000:0001]/', 'a loopback address'],
  // Private and shared networks.
  ['https://10.1.2.3/', 'a private address'],
  ['https://167772161/', 'a private address'],
  ['https://012.0.0.1/', 'a private address'],
  ['https://172.16.0.1/', 'a private address'],
  ['https://172.31.255.255/', 'a private address'],
  ['https://192.168.0.1/', 'a private address'],
  ['https://192.168.257/', 'a private address'],
  ['https://0xc0a80001/', 'a private address'],
  ['https://100.64.0.1/', 'a carrier-grade NAT address'],
  ['https://100.127.255.255/', 'a carrier-grade NAT address'],
  ['https://[fd00::1]/', 'a unique local address'],
  ['https://[fc00::1]/', 'a unique local address'],
  ['https://[fec0::1]/', 'a site-local address'],
  ['https://[fe80::1]/', 'a link-local address'],
  ['https://[febf::1]/', 'a link-local address'],
  ['https://169.254.0.1/', 'a link-local address'],
  // Metadata services.
  ['https://169.254.169.254/latest/meta-data', 'a link-local address'],
  ['https://2852039166/', 'a link-local address'],
  ['https://0xa9fea9fe/', 'a link-local address'],
  ['https://0251.0376.0251.0376/', 'a link-local address'],
  ['https://[::ffff:169.254.169.254]/', 'an IPv4-mapped address'],
  ['https://[fd00:ec2::254]/', 'a unique local address'],
  ['https://[fd20:ce::254]/', 'a unique local address'],
  ['https://100.100.100.200/', 'a carrier-grade NAT address'],
  ['https://192.0.0.192/', 'a reserved address'],
  ['https://168.63.129.16/', 'an address of a metadata service'],
  ['https://metadata.google.internal/', 'its ending is private'],
  ['https://METADATA.google.internal./', 'its ending is private'],
  ['https://metadata.goog/', 'it is a metadata service'],
  ['https://metadata/', 'a public name has a dot'],
  ['https://instance-data/', 'a public name has a dot'],
  ['https://instance-data.ec2.internal/', 'its ending is private'],
  // Nobody's, everybody's, and those of books and benchmarks.
  ['https://0.0.0.0/', 'an unspecified address'],
  ['https://0/', 'an unspecified address'],
  ['https://0.1.2.3/', 'an unspecified address'],
  ['https://[::]/', 'an unspecified address'],
  ['https://255.255.255.255/', 'the broadcast address'],
  ['https://4294967295/', 'the broadcast address'],
  ['https://224.0.0.1/', 'a multicast address'],
  ['https://239.255.255.250/', 'a multicast address'],
  ['https://[ff02::1]/', 'a multicast address'],
  ['https://240.0.0.1/', 'a reserved address'],
  ['https://192.0.2.1/', 'a reserved address'],
  ['https://198.51.100.7/', 'a reserved address'],
  ['https://203.0.113.9/', 'a reserved address'],
  ['https://198.18.0.1/', 'a reserved address'],
  ['https://198.19.255.255/', 'a reserved address'],
  ['https://192.88.99.1/', 'a reserved address'],
  ['https://192.0.0.8/', 'a reserved address'],
  ['https://[2001:db8::1]/', 'a reserved address'],
  ['https://[3fff::1]/', 'a reserved address'],
  ['https://[2001:2::1]/', 'a benchmark address'],
  ['https://[100::1]/', 'a discard address'],
  ['https://[2001:10::1]/', 'an ORCHID address'],
  ['https://[2001:20::1]/', 'an ORCHID address'],
  ['https://[5f00::1]/', 'a reserved address'],
  ['https://[4000::1]/', 'a reserved address'],
  // IPv4 within IPv6, public or not.
  ['https://[::ffff:127.0.0.1]/', 'an IPv4-mapped address'],
  ['https://[::ffff:7f00:1]/', 'an IPv4-mapped address'],
  ['https://[::ffff:8.8.8.8]/', 'an IPv4-mapped address'],
  ['https://[::127.0.0.1]/', 'an IPv4-compatible address'],
  ['https://[::a00:1]/', 'an IPv4-compatible address'],
  ['https://[::ffff:0:127.0.0.1]/', 'an IPv4-translated address'],
  ['https://[64:ff9b::7f00:1]/', 'a NAT64 address'],
  ['https://[64:ff9b::10.0.0.1]/', 'a NAT64 address'],
  ['https://[64:ff9b:1::a00:1]/', 'a NAT64 address'],
  ['https://[2002:7f00:1::]/', 'a 6to4 address'],
  ['https://[2002:a9fe:a9fe::1]/', 'a 6to4 address'],
  ['https://[2001:0:7f00:1::]/', 'a Teredo address'],
  // Names of a machine or a network.
  ['https://localhost/', 'a public name has a dot'],
  ['http://localhost:3000/', 'must be https'],
  ['https://LOCALHOST./', 'a public name has a dot'],
  ['https://ｌocalhost/', 'a public name has a dot'],
  ['https://a.localhost./', 'its ending is private'],
  ['https://intranet/', 'a public name has a dot'],
  ['https://intranet./', 'a public name has a dot'],
  ['https://printer.local/', 'its ending is private'],
  ['https://localhost.localdomain/', 'its ending is private'],
  ['https://router.home.arpa/', 'its ending is private'],
  ['https://git.corp/', 'its ending is private'],
  ['https://nas.lan/', 'its ending is private'],
  ['https://exampleonion.onion/', 'its ending is private'],
  // What is not an https URL of a public port.
  ['http://example.com/', 'must be https'],
  ['ftp://example.com/', 'must be https'],
  ['file:///etc/passwd', 'must be https'],
  ['gopher://example.com:443/', 'must be https'],
  ['https://user:hunter2@example.com/', 'must not contain credentials'],
  ['https://user@example.com/', 'must not contain credentials'],
  ['https://:hunter2@example.com/', 'must not contain credentials'],
  ['https://example.com@127.0.0.1/', 'must not contain credentials'],
  ['https://example.com:22/', 'port 22 is not allowed; use 443 or 8443'],
  ['https://example.com:80/', 'port 80 is not allowed'],
  ['https://example.com:6379/', 'port 6379 is not allowed'],
  ['https://example.com:0/', 'port 0 is not allowed'],
  ['https://[fe80::1%25eth0]/', 'is not a URL'],
  ['https://[::1/', 'is not a URL'],
  ['https://256.0.0.1/', 'is not a URL'],
  ['https://127.0.0.1.5/', 'is not a URL'],
  ['https:///', 'is not a URL'],
  ['not a url', 'is not a URL'],
]

describe('a receiver', () => {
  it('is any https URL of a public host', async () => {
    for (const url of PUBLIC) expect(await refusal(url), url).toBeUndefined()
  })

  it('is not a private host, whatever way it is written, and the refusal says why and the way out', async () => {
    expect(REFUSED.length).toBeGreaterThanOrEqual(60)
    for (const [url, why] of REFUSED) {
      // No name is asked for what the URL alone gives away.
      const message = await refusal(url, async () => expect.fail(`${url} was resolved`))
      expect(message, url).toContain(why)
      expect(message, url).not.toContain('hunter2')
      if (message?.includes('public host')) expect(message).toContain('use a public https receiver, or for development')
    }
  })

  it('is refused if one address of its name is private, and only that address is named', async () => {
    // A resolver may write an address in its own way, so that the table's hosts are tried as answers too.
    const hosts = REFUSED.filter(([, why]) => / address| metadata service/.test(why)).map(([url, why]) => {
      return [new URL(url).hostname.replace(/^\[|\]$/g, ''), why] as const
    })
    const addresses = hosts.filter(([host]) => /^[\d.]+$|:/.test(host))
    expect(addresses.length).toBeGreaterThanOrEqual(60)
    for (const [address, why] of addresses) {
      const message = await refusal('https://hooks.example.com/', async () => [PUBLIC_ADDRESS, address, '10.99.99.99'])
      expect(message).toContain(`hooks.example.com is not a public host: it resolves to ${address}, ${why};`)
      expect(message).not.toContain(PUBLIC_ADDRESS)
      if (address !== '10.99.99.99') expect(message).not.toContain('10.99.99.99')
    }
    expect(await refusal('https://hooks.example.com/', async () => ['fe80::1%eth0'])).toContain(
      'an address with a zone',
    )
    expect(await refusal('https://hooks.example.com/', async () => ['2606:4700::1%1'])).toContain('with a zone')
    const odd = await refusal('https://hooks.example.com/', async () => ['0x7f.1 secret'])
    expect(odd).toContain('it resolves to not an address')
    expect(odd).not.toContain('secret')
  })

  it('is refused where its name does not resolve, resolves to nothing, or nobody answers', async () => {
    const resolvers: Resolve[] = [
      () => Promise.reject(Object.assign(new Error('queryA ESERVFAIL 10.255.255.53'), { code: 'ESERVFAIL' })),
      async () => [],
      () => new Promise(() => {}),
    ]
    for (const resolve of resolvers) {
      expect(await refusal('https://hooks.example.com/', resolve)).toBe(
        'url: hooks.example.com does not resolve; check the name and try again',
      )
    }
  })

  it('is asked for by the name that TLS will see, without the dot of the root and in ASCII', async () => {
    const asked: string[] = []
    for (const url of ['https://Example.COM./', 'https://bücher.example/']) {
      await refusal(url, async (name) => {
        asked.push(name)
        return [PUBLIC_ADDRESS]
      })
    }
    expect(asked).toEqual(['example.com', 'xn--bcher-kva.example'])
  })

  it('may listen on the ports of the settings', async () => {
    const config = configOf({ 'webhooks.ports': '443,9443' })
    expect(await refusal('https://example.com:9443/', publicly, config)).toBeUndefined()
    expect(await refusal('https://example.com/', publicly, config)).toBeUndefined()
    expect(await refusal('https://example.com:8443/', publicly, config)).toContain('use 443 or 9443')
  })

  it('may be private where that is allowed, but never holds credentials nor speaks another protocol', async () => {
    const config = configOf({ 'webhooks.allow-private': true })
    const never: Resolve = async () => expect.fail('resolved')
    for (const [url, why] of REFUSED) {
      const still = /credentials|not a URL/.test(why) || !/^https?:/.test(url)
      expect((await refusal(url, never, config)) !== undefined, url).toBe(still)
    }
    for (const url of PUBLIC) expect(await refusal(url, never, config), url).toBeUndefined()
  })
})

describe('an address', () => {
  it('is refused in every private network, wherever in it', () => {
    const inside: [string, fc.Arbitrary<string>][] = [
      ['10/8', fc.tuple(octet, octet, octet).map(([a, b, c]) => `10.${a}.${b}.${c}`)],
      ['127/8', fc.tuple(octet, octet, octet).map(([a, b, c]) => `127.${a}.${b}.${c}`)],
      ['172.16/12', fc.tuple(between(16, 31), octet, octet).map(([a, b, c]) => `172.${a}.${b}.${c}`)],
      ['192.168/16', fc.tuple(octet, octet).map(([a, b]) => `192.168.${a}.${b}`)],
      ['100.64/10', fc.tuple(between(64, 127), octet, octet).map(([a, b, c]) => `100.${a}.${b}.${c}`)],
      ['169.254/16', fc.tuple(octet, octet).map(([a, b]) => `169.254.${a}.${b}`)],
      ['224/3', fc.tuple(between(224, 255), octet, octet, octet).map((parts) => parts.join('.'))],
      ['outside 2000::/3', fc.tuple(outside, fc.array(word, { minLength: 7, maxLength: 7 })).map(ipv6)],
      ['2002::/16', fc.array(word, { minLength: 7, maxLength: 7 }).map((rest) => ipv6([0x2002, rest]))],
    ]
    for (const [network, addresses] of inside) {
      fc.assert(
        fc.property(addresses, (address) => {
          expect(refusalOf(address), `${address} of ${network}`).not.toBeNull()
        }),
        { numRuns: 60 },
      )
    }
  })

  it('is allowed beside them', () => {
    const outsiders = ['9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0']
    const more = ['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0']
    const others = [
      '198.17.255.255',
      '198.20.0.0',
      '223.255.255.255',
      '2001:4860:4860::8888',
      '2a00::1',
      '2606:4700::1',
    ]
    for (const address of [...outsiders, ...more, ...others]) expect(refusalOf(address), address).toBeNull()
  })
})

describe('the name servers', () => {
  it('are asked for both families, without hosts file and search list, and deny by failing', async () => {
    const { server, asked } = await nameServer({
      'both.test': ['93.184.215.14', '2606:4700:0:0:0:0:0:1111'],
      'four.test': ['93.184.215.14'],
      'six.test': ['2606:4700:0:0:0:0:0:1111'],
      'private.test': ['93.184.215.14', '10.1.2.3'],
      'mapped.test': ['93.184.215.14', '0:0:0:0:0:ffff:7f00:1'],
      'none.test': [],
      'broken.test': 'SERVFAIL',
    })
    const resolve = askNameServers([server])
    const of = (name: string) => receiverAddresses(name, false, resolve)
    expect(await of('both.test')).toEqual(['93.184.215.14', '2606:4700::1111'])
    expect(await of('four.test')).toEqual(['93.184.215.14'])
    expect(await of('six.test')).toEqual(['2606:4700::1111'])
    await expect(of('private.test')).rejects.toThrow(
      'private.test is not a public host: it resolves to 10.1.2.3, a private',
    )
    await expect(of('mapped.test')).rejects.toThrow('it resolves to ::ffff:127.0.0.1, an IPv4-mapped address')
    for (const name of ['none.test', 'broken.test', 'unknown.test']) {
      await expect(of(name)).rejects.toThrow(`${name} does not resolve`)
    }
    expect(asked.has('both.test 1') && asked.has('both.test 28')).toBe(true)
    expect([...asked].filter((question) => !/^\w+\.test (1|28)$/.test(question))).toEqual([])
  })

  it('are public in an IPv6-only network by the IPv4 address within that DNS64 gives them', async () => {
    const { server } = await nameServer({
      'four.test': ['64:ff9b:0:0:0:0:5db8:d70e'],
      'private.test': ['64:ff9b:0:0:0:0:a00:1'],
      'loopback.test': ['64:ff9b:0:0:0:0:7f00:1'],
      'metadata.test': ['64:ff9b:0:0:0:0:a9fe:a9fe'],
      'local-use.test': ['64:ff9b:1:0:0:0:5db8:d70e'],
    })
    const of = (name: string) => receiverAddresses(name, false, askNameServers([server]))
    expect(await of('four.test')).toEqual(['64:ff9b::5db8:d70e'])
    for (const name of ['private.test', 'loopback.test', 'metadata.test', 'local-use.test'])
      await expect(of(name)).rejects.toThrow('a NAT64 address')
    await expect(of('64:ff9b::5db8:d70e')).rejects.toThrow('a NAT64 address')
  })

  it('deny by default what nobody knows', async () => {
    await expect(checkReceiver({ config: STRICT }, 'https://hooks.invalid/')).rejects.toThrow('does not resolve')
  })
})

/** A name server over UDP: addresses of known names, SERVFAIL where told, NXDOMAIN for the rest (RFC 1035). */
async function nameServer(names: Record<string, string[] | 'SERVFAIL'>) {
  const asked = new Set<string>()
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = []
    let at = 12
    for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    const type = query.readUInt16BE(at + 1)
    const name = labels.join('.').toLowerCase()
    asked.add(`${name} ${type}`)
    const known = names[name]
    const records = Array.isArray(known) ? known.filter((record) => isIPv4(record) === (type === 1)) : []
    const code = known === 'SERVFAIL' ? 2 : known === undefined ? 3 : 0
    const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80 | code, 0, 1, 0, records.length, 0, 0, 0, 0])
    const answers = records.map((record) => {
      const bytes = isIPv4(record)
        ? Buffer.from(record.split('.').map(Number))
        : Buffer.from(
            record.split(':').flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]),
          )
      return Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length]), bytes])
    })
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...answers]), port, address)
  })
  await new Promise<void>((resolve) => void socket.bind(0, '127.0.0.1', resolve))
  onTestFinished(() => void socket.close())
  return { server: `127.0.0.1:${socket.address().port}`, asked }
}

const between = (min: number, max: number) => fc.integer({ min, max })
const octet = between(0, 255)
const word = between(0, 0xffff)
const outside = fc.oneof(between(0, 0x1fff), between(0x4000, 0xffff))
const ipv6 = ([first, rest]: [number, number[]]) => [first, ...rest].map((part) => part.toString(16)).join(':')
