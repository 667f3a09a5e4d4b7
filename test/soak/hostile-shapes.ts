/** Bodies that were made to stop a daemon: too many, too deep, too long, and what merely looks small. */
import { MINIMAL } from '../api/bodies.ts'
import { entries, wallet } from '../support/trees.ts'

export const MB = 1_000_000
export const A = wallet(1)
export interface Shape {
  path: string
  body: string | Buffer
  type?: string
  times: number
}

const pool = (more: string) => `${JSON.stringify(MINIMAL['pools.create']).slice(0, -1)},${more}}`
const fields = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":""`).join()
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

function form(parts: [string, string | Buffer][]): Pick<Shape, 'body' | 'type'> {
  const pieces = parts.flatMap(([name, value]) => [
    Buffer.from(`--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
    Buffer.from(value as string),
    Buffer.from('\r\n'),
  ])
  return { body: Buffer.concat([...pieces, Buffer.from('--x--\r\n')]), type: 'multipart/form-data; boundary=x' }
}

/** A picture that is 15 MB of one chunk, and says that it is as wide as it can. */
function bomb(): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d494844527fffffff7fffffff0806000000', 'hex')
  return Buffer.concat([head, Buffer.alloc(11 * MB, 1)])
}

export const SHAPES: Record<string, Shape> = {
  '15 MB of metadata in 23 pools': {
    path: '/v2/pools',
    body: pool(`"metadata":{"a":"${'x'.repeat(15 * MB)}"}`),
    times: 23,
  },
  '15 MB of short metadata': { path: '/v2/pools', body: pool(`"metadata":{${fields(MB)}}`), times: 4 },
  'a million fields': { path: '/v2/pools', body: `{${fields(MB)}}`, times: 4 },
  'a million fields where 256 KiB may be sent': { path: '/v2/stakes', body: `{${fields(MB)}}`, times: 4 },
  'as many fields as 256 KiB hold': { path: '/v2/stakes', body: `{${fields(25_000)}}`, times: 30 },
  'a million levels': { path: '/v2/pools', body: nested(MB), times: 4 },
  'as many levels as 256 KiB hold': { path: '/v2/stakes', body: nested(40_000), times: 30 },
  'a name of 15 MB': { path: '/v2/pools', body: `{"${'x'.repeat(15 * MB)}":1}`, times: 4 },
  'strings of 15 MB': { path: '/v2/pools', body: pool(`"name":"${'x'.repeat(15 * MB)}"`), times: 4 },
  'strings full of escapes': { path: '/v2/pools', body: pool(`"name":"${'\\"\\\\'.repeat(3 * MB)}"`), times: 4 },
  'a list of seven million': { path: '/v2/pools', body: pool(`"image":[${'0,'.repeat(7 * MB)}0]`), times: 4 },
  'an image of 15 MB that is none': { path: '/v2/pools', body: pool(`"image":"${'QUJD'.repeat(3.9 * MB)}"`), times: 4 },
  'an image of 15 MB of escapes': {
    path: '/v2/pools',
    body: pool(`"image":"${'\\u0041'.repeat(2.5 * MB)}"`),
    times: 4,
  },
  'an image that is a bomb': { path: '/v2/pools', body: pool(`"image":"${bomb().toString('base64')}"`), times: 4 },
  'a form of 200,000 parts': {
    path: '/v2/pools',
    ...form(Array.from({ length: 200_000 }, (_, n) => [`f${n}`, ''])),
    times: 4,
  },
  'a form with a text of 15 MB': { path: '/v2/pools', ...form([['description', 'x'.repeat(15 * MB)]]), times: 4 },
  'a form with metadata of 15 MB': { path: '/v2/pools', ...form([['metadata', `{${fields(MB)}}`]]), times: 4 },
  'a form with a part head of 15 MB': { path: '/v2/pools', ...form([['n'.repeat(15 * MB), '']]), times: 4 },
  'a form with an image of 15 MB': {
    path: '/v2/pools',
    ...form([
      ...Object.entries({ creator: A, name: 'Bomb', symbol: 'BOMB', metadata: '{}' }),
      ['image', Buffer.concat([bomb(), Buffer.alloc(4 * MB)])],
    ] as [string, string | Buffer][]),
    times: 4,
  },
  'a form with an image beside a part head of 15 MB': {
    path: '/v2/pools',
    ...form([
      ['image', ''],
      [`${'n'.repeat(14 * MB)}"; filename="image`, ''],
    ]),
    times: 4,
  },
  'a tree with a million fields beside its entries': {
    path: '/v2/merkle-trees',
    body: `{"mint":"${A}","metadata":{${fields(MB)}},"entries":${JSON.stringify(entries(2))}}`,
    times: 4,
  },
  'a tree with a million levels': { path: '/v2/merkle-trees', body: `{"metadata":${nested(MB)}}`, times: 4 },
  'as many unknown fields as may be sent': { path: '/v2/stakes', body: `{${fields(9_900)}}`, times: 30 },
  'as many wrong events as may be sent': {
    path: '/v2/webhook-subscriptions',
    body: JSON.stringify({ url: 'https://example.com', enabled_events: Array(9_900).fill('none') }),
    times: 30,
  },
  'a subscription to one event, 20,000 times': {
    path: '/v2/webhook-subscriptions',
    body: JSON.stringify({ url: 'https://example.com', enabled_events: Array(20_000).fill('pool.live') }),
    times: 30,
  },
}
