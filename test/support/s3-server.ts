/** An S3-compatible server over a folder: checks every signature, speaks what storage needs, and fails as the test says. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { environmentName, type SettingName } from '../../src/settings/config.ts'
import { temporaryFolder } from './service.ts'
import { type SentRequest, type SigningKey, signatureFault } from './sigv4.ts'

/**
 * `busy`: 503. `broken`: 500 after what was asked is done. `hangs`: no answer. `cut`: half an answer. `refuses`: the
 * connection is closed. `other content`: bytes of the same length. `redirects`: to another host. `no S3`: a web page.
 * `endless`: a piece of an object of 1 TB. `same page`: a list that leads back to where it is. `half list`: one that
 * goes on, without saying where.
 */
type BucketTrouble =
  | ('busy' | 'broken' | 'hangs' | 'cut' | 'refuses')
  | ('other content' | 'redirects' | 'no S3' | 'endless' | 'same page' | 'half list')

export interface S3Server {
  url: string
  /** The settings that a service needs to keep its assets here. */
  settings: Partial<Record<SettingName, string | number>>
  /** Method and path of each request whose signature was right. */
  requests: string[]
  /** Names of the objects. */
  keys(): string[]
  read(key: string): Buffer
  write(key: string, bytes: Uint8Array): void
  remove(key: string): void
  contentType(key: string): string | undefined
  /** The next so many requests with this method go wrong. */
  trouble(kind: BucketTrouble, times?: number, method?: 'GET' | 'PUT'): void
  /** Changes the entity tags of later answers, as a proxy may. */
  setTags(change: (etag: string) => string): void
  /** Milliseconds by which the server's clock is ahead. */
  setClock(ahead: number): void
  /** Refuses what needs these permissions. */
  deny(...rights: string[]): void
  close(): Promise<void>
}

export interface S3ServerOptions {
  key?: SigningKey
  bucket?: string
  prefix?: string
  /** Objects on a page of a list. */
  pageSize?: number
  port?: number
}

interface S3Reply {
  status: number
  headers?: Record<string, string>
  body?: Uint8Array | string
}

export async function startS3(options: S3ServerOptions = {}): Promise<S3Server> {
  const { bucket = 'launches', prefix, pageSize = 1000 } = options
  const key = options.key ?? { accessKeyId: 'AKIATESTKEY', secretAccessKey: 'S3TOPSECRET', region: 'eu-central-1' }
  const folder = temporaryFolder()
  const [objects, types] = [join(folder, 'objects'), join(folder, 'types')]
  for (const one of [objects, types]) mkdirSync(one)
  const fileOf = (name: string) => join(objects, encodeURIComponent(name))
  const keys = () => readdirSync(objects).map(decodeURIComponent).sort()
  const requests: string[] = []
  /** What was read of each version of an object, since many readers ask for ranges of the same one. */
  const contents = new Map<string, { bytes: Buffer; etag: string }>()
  const contentOf = (name: string) => {
    const bytes = readFileSync(fileOf(name))
    return { bytes, etag: etagOf(bytes) }
  }
  let [kind, left, of, ahead]: [BucketTrouble | undefined, number, string | undefined, number] = [undefined, 0, '', 0]
  let denied: readonly string[] = []
  let tagOf = (etag: string) => etag

  function answer(request: SentRequest): S3Reply {
    const url = new URL(request.url, 'http://s3.test')
    const named = bucketAndKey(request.headers.host ?? '', decodeURIComponent(url.pathname))
    const fault = signatureFault(request, key, Date.now() + ahead)
    if (fault !== null) return errorReply(fault === 'AuthorizationHeaderMalformed' ? 400 : 403, fault)
    requests.push(`${request.method} ${url.pathname}`)
    if (named.bucket !== bucket) return errorReply(404, 'NoSuchBucket')
    const right = named.key === '' ? 's3:ListBucket' : request.method === 'PUT' ? 's3:PutObject' : 's3:GetObject'
    if (denied.includes(right)) return errorReply(403, 'AccessDenied')
    if (named.key === '')
      return request.method === 'GET' ? listReply(url.searchParams) : errorReply(405, 'MethodNotAllowed')
    if (request.method === 'PUT') return store(named.key, request)
    if (request.method === 'GET' || request.method === 'HEAD') return objectReply(named.key, request)
    if (request.method !== 'DELETE') return errorReply(405, 'MethodNotAllowed')
    rmSync(fileOf(named.key), { force: true })
    return { status: 204 }
  }

  /** The bucket stands in the path, or before the host. */
  function bucketAndKey(host: string, path: string): { bucket: string; key: string } {
    if (host.startsWith(`${bucket}.`)) return { bucket, key: path.slice(1) }
    const [, first = '', ...rest] = path.split('/')
    return { bucket: first, key: rest.join('/') }
  }

  function store(name: string, { body, headers }: SentRequest): S3Reply {
    contents.clear()
    writeFileSync(fileOf(name), body)
    writeFileSync(join(types, encodeURIComponent(name)), headers['content-type'] ?? '')
    return { status: 200, headers: { etag: etagOf(body) } }
  }

  function objectReply(name: string, { headers }: SentRequest): S3Reply {
    const stats = statSync(fileOf(name), { throwIfNoEntry: false })
    if (stats === undefined) return errorReply(404, 'NoSuchKey')
    const version = `${name} ${stats.ino} ${stats.mtimeMs} ${stats.size}`
    const { bytes, etag } = contents.get(version) ?? contentOf(name)
    contents.set(version, { bytes, etag })
    if (headers['if-match'] !== undefined && headers['if-match'] !== etag) return errorReply(412, 'PreconditionFailed')
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '')
    if (range === null) return { status: 200, headers: { etag: tagOf(etag) }, body: bytes }
    const [from, to] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)]
    if (from > to) return errorReply(416, 'InvalidRange')
    return {
      status: 206,
      headers: { etag: tagOf(etag), 'content-range': `bytes ${from}-${to}/${bytes.length}` },
      body: bytes.subarray(from, to + 1),
    }
  }

  function listReply(query: URLSearchParams): S3Reply {
    if (query.get('list-type') !== '2') return errorReply(400, 'InvalidArgument')
    const after = Buffer.from(query.get('continuation-token') ?? '', 'base64').toString()
    const found = keys().filter((name) => name.startsWith(query.get('prefix') ?? '') && name > after)
    const page = found.slice(0, Math.min(pageSize, Number(query.get('max-keys') ?? 1000)))
    const next = page.length < found.length ? Buffer.from(page.at(-1) ?? '').toString('base64') : null
    const entries = page.map(
      (name) => `<Contents><Key>${name}</Key><Size>${statSync(fileOf(name)).size}</Size></Contents>`,
    )
    const token = next === null ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`
    const body = listBody(`<IsTruncated>${next !== null}</IsTruncated>${entries.join('')}${token}`)
    return { status: 200, headers: { 'content-type': 'application/xml' }, body }
  }

  function goWrong(
    how: BucketTrouble,
    request: SentRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): void {
    const right = () => answer(request)
    const ways: Record<BucketTrouble, () => void> = {
      busy: () => reply(response, errorReply(503, 'SlowDown')),
      broken() {
        right()
        reply(response, errorReply(500, 'InternalError'))
      },
      hangs() {},
      refuses: () => void incoming.socket.destroy(),
      redirects: () => reply(response, { status: 307, headers: { location: 'http://127.0.0.1:1/elsewhere' } }),
      'no S3': () => reply(response, { status: 404, body: '<html>not here</html>' }),
      'other content'() {
        const { body = '', ...rest } = right()
        reply(response, { ...rest, body: randomBytes(Buffer.from(body).length) })
      },
      endless: () =>
        reply(response, {
          status: 206,
          headers: { etag: '"endless"', 'content-range': 'bytes 0-262143/1000000000000' },
          body: Buffer.alloc(262_144),
        }),
      'same page': () =>
        reply(response, { ...right(), body: listBody('<NextContinuationToken>a</NextContinuationToken>') }),
      'half list': () => reply(response, { ...right(), body: listBody('<IsTruncated>true</IsTruncated>') }),
      cut() {
        const { status, headers, body = '' } = right()
        const bytes = Buffer.from(body)
        response.writeHead(status, { ...headers, 'content-length': String(bytes.length) })
        response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy())
      },
    }
    ways[how]()
  }

  const server = createServer(async (incoming, response) => {
    response.setHeader('date', new Date(Date.now() + ahead).toUTCString())
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { method = '', url = '' } = incoming
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
    const request = { method, url, headers, body: Buffer.concat(chunks) }
    const isDue = left > 0 && (of === undefined || of === method)
    if (isDue) left--
    if (kind === undefined || !isDue) reply(response, answer(request))
    else goWrong(kind, request, incoming, response)
  })
  await new Promise<void>((settle) => server.listen(options.port ?? 0, '127.0.0.1', settle))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () =>
    new Promise<void>((settle) => {
      server.close(() => settle())
      server.closeAllConnections()
    })
  onTestFinished(close)
  return {
    url,
    settings: {
      storage: 's3',
      's3.endpoint': url,
      's3.bucket': bucket,
      's3.region': key.region,
      's3.access-key-id': key.accessKeyId,
      's3.secret-access-key': key.secretAccessKey,
      ...(key.sessionToken !== undefined && { 's3.session-token': key.sessionToken }),
      ...(prefix !== undefined && { 's3.prefix': prefix }),
    },
    requests,
    keys,
    read: (name) => readFileSync(fileOf(name)),
    write(name, bytes) {
      contents.clear()
      writeFileSync(fileOf(name), bytes)
    },
    remove: (name) => rmSync(fileOf(name)),
    contentType: (name) => readFileSync(join(types, encodeURIComponent(name)), 'utf8'),
    trouble(how, times = Number.POSITIVE_INFINITY, method) {
      ;[kind, left, of] = [how, times, method]
    },
    setTags(change) {
      tagOf = change
    },
    setClock(milliseconds) {
      ahead = milliseconds
    },
    deny(...rights) {
      denied = rights
    },
    close,
  }
}

/** Settings as an operator gives them to a process. */
export const variablesOf = (settings: S3Server['settings']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [environmentName(name as SettingName), String(value)]),
  )

const etagOf = (bytes: Uint8Array) => `"${createHash('md5').update(bytes).digest('hex')}"`

const listBody = (content: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>${content}</ListBucketResult>`

const errorReply = (status: number, code: string): S3Reply => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>text</Message></Error>`,
})

function reply(response: ServerResponse, { status, headers = {}, body = '' }: S3Reply): void {
  const bytes = Buffer.from(body)
  response.writeHead(status, { ...headers, 'content-length': String(bytes.length) }).end(bytes)
}
