/** Files that the build wrote, as this process serves them: read once, compressed once. */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { respond } from '../pipeline/answer.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { matchesEtag } from './entity-tags.ts'

type Bytes = Uint8Array<ArrayBuffer>

interface ServedFile {
  bytes: Bytes
  packed: Bytes
  /** The beginning of the hash of the bytes, in hex. */
  tag: string
}

/** The bytes of a file of dist/; when run from source, it is read from there too. */
export async function readBuilt(file: string): Promise<Buffer<ArrayBuffer>> {
  const here = import.meta.url
  const path = fileURLToPath(new URL(here.endsWith('.ts') ? `../../dist/${file}` : `./${file}`, here))
  return (await readFile(path)) as Buffer<ArrayBuffer>
}

export async function servedFile(bytes: Bytes): Promise<ServedFile> {
  const packed = new Uint8Array(await promisify(gzip)(bytes, { level: 9 }))
  return { bytes, packed, tag: hash('sha256', bytes).slice(0, 32) }
}

/** Answers with the file, compressed if the client accepts that, or with 304 if it has it. */
export function answerFile(
  c: Context<RequestEnv>,
  { bytes, packed, tag }: ServedFile,
  headers: Readonly<Record<string, string>>,
): Response {
  // The compressed file has its own tag, so a cache never sends it to a client that cannot decompress it.
  const isPacked = acceptsGzip(c)
  const named = isPacked ? `${tag}-gzip` : tag
  const all = { ...headers, ETag: `"${named}"`, Vary: 'Accept-Encoding', 'X-Request-Id': c.env.requestId }
  if (matchesEtag(c.req.header('if-none-match') ?? '', named)) return respond(c.env, 304, all, null)
  const body = isPacked ? packed : bytes
  const encoding = isPacked ? { 'Content-Encoding': 'gzip' } : {}
  return respond(c.env, 200, { ...all, ...encoding, 'Content-Length': String(body.length) }, body)
}

const acceptsGzip = (c: Context): boolean =>
  accepts(c, {
    header: 'Accept-Encoding',
    supports: ['gzip', 'identity'],
    default: 'identity',
    match: (all) => (all.some(({ type, q }) => type === 'gzip' && q > 0) ? 'gzip' : 'identity'),
  }) === 'gzip'
