/** Stores assets as files in the data folder, named by the hash of their content and served at /assets. */
import { createHash } from 'node:crypto'
import { open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { internal } from '../errors.ts'
import { FileFault, makeDataFolder, replaceWith } from '../files.ts'
import { imageTypeOf } from './image-structure.ts'
import { publicBase } from './public-base.ts'
import type { Asset, Storage } from './storage.ts'

export const ASSETS_FOLDER = 'assets'

/** CIDv1 with raw codec and sha2-256 of 32 bytes: these make the constant first characters, followed by the digest. */
const CID = /^bafkrei[a-z2-7]{52}$/
/** Maximum URI length that the Metaplex programs and the clients of Token-2022 accept. */
const LONGEST_URI = 200

export function openLocalStorage(config: Config, cluster: string): Storage {
  const folder = join(config.dataDir, ASSETS_FOLDER)

  const uriOf = async (cid: string): Promise<string> => {
    const uri = `${await publicBase(config, cluster)}/assets/${cid}`
    if (uri.length > LONGEST_URI) {
      throw internal(
        `public-url makes URIs of ${uri.length} characters, a token holds ${LONGEST_URI}: set a shorter one`,
      )
    }
    return uri
  }

  return {
    async check() {
      await uriOf('bafkrei'.padEnd(59, 'a'))
    },

    async locate(bytes) {
      const cid = await cidOf(bytes)
      return { cid, uri: await uriOf(cid) }
    },

    async put(bytes, contentType) {
      if (sniffed(bytes) !== contentType) throw new Error(`the content of an asset is not ${contentType}`)
      const cid = await cidOf(bytes)
      const uri = await uriOf(cid)
      const stored = await readAssetFile(join(folder, cid))
      if (stored === null || (await cidOf(stored)) !== cid) await writeAsset(folder, cid, bytes)
      return { cid, uri }
    },

    has: async (cid) => CID.test(cid) && (await stat(join(folder, cid)).catch(() => null))?.isFile() === true,

    async get(cid) {
      if (!CID.test(cid)) return null
      const bytes = await readAssetFile(join(folder, cid))
      if (bytes === null) return null
      if ((await cidOf(bytes)) !== cid) {
        throw internal(`The asset ${cid} is damaged: its bytes are not what they were; restore it from a backup`)
      }
      return { bytes, contentType: sniffed(bytes) } satisfies Asset
    },
  }
}

/** Returns the CIDv1 of the bytes as one raw block, in base32. */
export async function cidOf(bytes: Uint8Array): Promise<string> {
  const [{ CID }, raw, digest] = await Promise.all([
    import('multiformats/cid'),
    import('multiformats/codecs/raw'),
    import('multiformats/hashes/digest'),
  ])
  const SHA2_256 = 0x12
  return CID.createV1(raw.code, digest.create(SHA2_256, createHash('sha256').update(bytes).digest())).toString()
}

/**
 * Determines the content type from the bytes, which suffices because only validated images and the service's own JSON
 * are stored.
 */
function sniffed(bytes: Uint8Array): string {
  const type = imageTypeOf(bytes)
  if (type !== undefined) return `image/${type}`
  return bytes[0] === 0x7b ? 'application/json' : 'application/octet-stream'
}

async function readAssetFile(file: string): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw internal(`The asset folder cannot be read: ${errnoOf(error)}`, { cause: error })
  }
}

/** Writes an asset atomically and syncs it to the disk before it returns. */
async function writeAsset(folder: string, cid: string, bytes: Uint8Array): Promise<void> {
  try {
    makeDataFolder(folder)
    await replaceWith(join(folder, cid), (draft) => writeFile(draft, bytes, { mode: 0o600, flag: 'wx', flush: true }))
    const directory = await open(folder, 'r')
    await directory.sync().finally(() => directory.close())
  } catch (error) {
    if (error instanceof FileFault) throw error
    throw internal(`The asset folder cannot be written: ${errnoOf(error)}; make room or mend its permissions`, {
      cause: error,
    })
  }
}

const errnoOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'no reason given'
