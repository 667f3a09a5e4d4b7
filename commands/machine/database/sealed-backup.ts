/**
 * Writes and reads a sealed backup: one file with all files of a backup, encrypted with a key that a passphrase opens.
 * A changed or cut file is refused before anything of it is used.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from '@hono/zod-openapi'
import { VERSION } from '../../../src/platform/version.ts'
import type { StepProgress } from '../../database/installation.ts'
import { failure, Problem, usage } from '../../ui/problem.ts'
import { openSecret, SECRET_BYTES, sealedSecretSchema, sealSecret } from '../encryption.ts'
import { BACKUP_LIST, type BackupList, parsedList } from './backup-list.ts'

const SEALED_FORMAT = 1
const SEALED_START = '{"svc_sealed_backup":'
/** The first line is the head, in clear. */
const MOST_HEAD_BYTES = 4096
const CHUNK_BYTES = 1024 * 1024
const TAG_BYTES = 16
const NONCE_BYTES = 12

const headSchema = z.strictObject({
  svc_sealed_backup: z.literal(SEALED_FORMAT),
  version: z.string().max(64),
  created_at: z.string().max(64),
  /** The key of the chunks, sealed by the passphrase. */
  key: sealedSecretSchema,
})
type Head = z.infer<typeof headSchema>
type HeadText = Pick<Head, 'svc_sealed_backup' | 'version' | 'created_at'>

const contextOf = ({ svc_sealed_backup, version, created_at }: HeadText) => [
  `svc sealed backup ${svc_sealed_backup}`,
  version,
  created_at,
]

/** Whether the path is a file that begins as a sealed backup does. */
export const isSealedBackup = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true &&
  firstBytes(path).toString('latin1').startsWith(SEALED_START)

function firstBytes(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const start = Buffer.alloc(MOST_HEAD_BYTES)
    return start.subarray(0, readSync(descriptor, start, 0, start.length, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** Writes all files of a backup's folder to a new file (0600), which is on disk when this resolves. */
export async function sealFolder(
  folder: string,
  file: string,
  { passphrase, onProgress, cost }: { passphrase: string; onProgress: StepProgress; cost?: number },
): Promise<void> {
  const text: HeadText = {
    svc_sealed_backup: SEALED_FORMAT,
    version: VERSION,
    created_at: new Date().toISOString(),
  }
  const key = randomBytes(SECRET_BYTES)
  const head: Head = { ...text, key: await sealSecret(key, passphrase, contextOf(text), cost) }
  await pipeline(
    sealedBytes(head, key, packed(folder, onProgress)),
    createWriteStream(file, { mode: 0o600, flags: 'wx', flush: true }),
  )
  key.fill(0)
}

async function* sealedBytes(head: Head, key: Buffer, plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield Buffer.from(`${JSON.stringify(head)}\n`)
  const reader = new ByteReader(plain)
  for (let n = 0; ; n++) {
    const chunk = await reader.take(CHUNK_BYTES)
    const isLast = chunk.length < CHUNK_BYTES
    const sealing = createCipheriv('aes-256-gcm', key, nonceOf(n, isLast), { authTagLength: TAG_BYTES })
    yield Buffer.concat([sealing.update(chunk), sealing.final(), sealing.getAuthTag()])
    if (isLast) return
  }
}

/** Chunks that are exchanged, left out or cut off do not open: the nonce has their number, and marks the last one. */
function nonceOf(n: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUIntBE(n, 0, 6)
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0
  return nonce
}

/** Each file as the length of its entry, the entry and the content; the list of the backup comes first. */
async function* packed(folder: string, onProgress: StepProgress): AsyncGenerator<Buffer> {
  const paths = filesBelow(folder)
  const sizes = new Map(paths.map((path) => [path, statSync(join(folder, path)).size]))
  const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  let done = 0
  for (const [path, bytes] of sizes) {
    const entry = Buffer.from(JSON.stringify({ path, bytes } satisfies Entry))
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32BE(entry.length)
    yield Buffer.concat([length, entry])
    yield* createReadStream(join(folder, path), { highWaterMark: CHUNK_BYTES })
    done += bytes
    onProgress(done, total)
  }
}

interface Entry {
  path: string
  bytes: number
}
const LENGTH_BYTES = 4
const MOST_ENTRY_BYTES = 1024

function filesBelow(folder: string): string[] {
  const paths = readdirSync(folder, { withFileTypes: true }).flatMap((found) =>
    found.isDirectory() ? readdirSync(join(folder, found.name)).map((name) => `${found.name}/${name}`) : [found.name],
  )
  return [BACKUP_LIST, ...paths.filter((path) => path !== BACKUP_LIST)]
}

/** A sealed backup whose every byte was authenticated. */
export interface OpenedBackup {
  list: BackupList
  /** Writes its files into an empty folder. */
  unpack(folder: string): Promise<void>
}

/** Reads the whole file and writes nothing. Throws for a wrong passphrase, and for a file that was cut or changed. */
export async function openSealed(file: string, passphrase: string): Promise<OpenedBackup> {
  const { head, bytes } = readHead(file)
  const key = await openSecret(head.key, passphrase, contextOf(head))
  if (key === null) {
    throw new Problem('forbidden', `${file} does not open: the passphrase is wrong, or its first line was changed`, {
      next: 'try again with the passphrase of this backup; nothing was changed here',
    })
  }
  const opened = () => new ByteReader(openedBytes(file, bytes, key))
  const reader = opened()
  const first = await nextEntry(reader, file)
  if (first?.path !== BACKUP_LIST || first.bytes > CHUNK_BYTES) throw spoiled(file)
  const list = parsedList(file, (await reader.take(first.bytes)).toString())
  while ((await reader.take(CHUNK_BYTES)).length > 0);
  return { list, unpack: (folder) => unpacked(opened(), file, folder) }
}

function readHead(file: string): { head: Head; bytes: number } {
  const start = firstBytes(file)
  const end = start.indexOf('\n')
  const parsed = headSchema.safeParse(end < 0 ? undefined : jsonOf(start.subarray(0, end).toString()))
  if (parsed.success) return { head: parsed.data, bytes: end + 1 }
  const format = /^\{"svc_sealed_backup":(\d{1,9})\D/.exec(start.toString('latin1'))?.[1]
  if (format !== undefined && Number(format) !== SEALED_FORMAT) {
    throw usage(`${file} has format ${format}, and this program reads ${SEALED_FORMAT}`, {
      next: 'upgrade svc, or use another backup',
    })
  }
  throw spoiled(file)
}

async function* openedBytes(file: string, start: number, key: Buffer): AsyncGenerator<Buffer> {
  const reader = new ByteReader(createReadStream(file, { start, highWaterMark: CHUNK_BYTES }))
  for (let n = 0; ; n++) {
    const sealed = await reader.take(CHUNK_BYTES + TAG_BYTES)
    const isLast = sealed.length < CHUNK_BYTES + TAG_BYTES
    const end = sealed.length - TAG_BYTES
    if (end < 0) throw spoiled(file)
    const opening = createDecipheriv('aes-256-gcm', key, nonceOf(n, isLast), { authTagLength: TAG_BYTES })
    opening.setAuthTag(sealed.subarray(end))
    const plain = opening.update(sealed.subarray(0, end))
    try {
      opening.final()
    } catch {
      throw spoiled(file)
    }
    yield plain
    if (isLast) return
  }
}

async function unpacked(reader: ByteReader, file: string, folder: string): Promise<void> {
  for (let entry = await nextEntry(reader, file); entry !== null; entry = await nextEntry(reader, file)) {
    const target = join(folder, entry.path)
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    const descriptor = openSync(target, 'wx', 0o600)
    try {
      for (let left = entry.bytes; left > 0; ) {
        const part = await reader.take(Math.min(left, CHUNK_BYTES))
        if (part.length === 0) throw spoiled(file)
        writeFileSync(descriptor, part)
        left -= part.length
      }
    } finally {
      closeSync(descriptor)
    }
  }
}

/** The next entry; null at the end. Its path names a file of the folder, or one a folder below. */
async function nextEntry(reader: ByteReader, file: string): Promise<Entry | null> {
  const length = await reader.take(LENGTH_BYTES)
  if (length.length === 0) return null
  const bytes = length.length < LENGTH_BYTES ? 0 : length.readUInt32BE()
  if (bytes === 0 || bytes > MOST_ENTRY_BYTES) throw spoiled(file)
  const entry = entrySchema.safeParse(jsonOf((await reader.take(bytes)).toString()))
  if (!entry.success) throw spoiled(file)
  return entry.data
}

const entrySchema = z.strictObject({
  path: z.string().regex(/^[a-z0-9][\w.-]*(?:\/[a-z0-9][\w.-]*)?$/),
  bytes: z.int().min(0),
})

/** Takes exact numbers of bytes from chunks of any size. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** The next `count` bytes; fewer at the end. */
  async take(count: number): Promise<Buffer> {
    const parts = [this.#rest]
    let length = this.#rest.length
    while (length < count) {
      const { done, value } = await this.#chunks.next()
      if (done === true) break
      parts.push(value)
      length += value.length
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts)
    this.#rest = all.subarray(count)
    return all.subarray(0, count)
  }
}

const spoiled = (file: string) =>
  failure(`${file} was cut off or changed since it was written`, {
    next: 'use another backup; nothing was changed here',
  })

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
