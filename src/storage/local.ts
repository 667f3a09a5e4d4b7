/** Stores assets as files in the data folder, named by the hash of their content. */

import { createReadStream } from 'node:fs'
import { open, opendir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ApiError, internal } from '../platform/errors.ts'
import { FileFault, makeDataFolder, replaceWith } from '../platform/files.ts'
import type { PieceStore } from './backend.ts'
import { isCid } from './cid.ts'

export const ASSETS_FOLDER = 'assets'
/** Bytes of a file that are read at a time. */
const FILE_PIECE_BYTES = 64 * 1024

export function folderStore(dataDir: string): PieceStore {
  const folder = join(dataDir, ASSETS_FOLDER)
  return {
    async lengthOf(cid) {
      try {
        const status = await stat(join(folder, cid))
        return status.isFile() ? status.size : null
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') return null
        throw unreadableFolder(error)
      }
    },

    async *pieces(cid) {
      try {
        for await (const piece of createReadStream(join(folder, cid), { highWaterMark: FILE_PIECE_BYTES })) yield piece
      } catch (error) {
        throw unreadableFolder(error)
      }
    },

    /** Writes the asset atomically and syncs it to the disk before it returns. */
    async write(cid, bytes) {
      try {
        makeDataFolder(folder)
        const options = { mode: 0o600, flag: 'wx', flush: true } as const
        await replaceWith(join(folder, cid), (draft) => writeFile(draft, bytes, options))
        const directory = await open(folder, 'r')
        await directory.sync().finally(() => directory.close())
      } catch (error) {
        if (error instanceof FileFault) throw error
        throw internal(
          `The asset folder cannot be written: ${errnoOf(error)}; free some space or correct its permissions`,
          {
            cause: error,
          },
        )
      }
    },

    async *list() {
      try {
        for await (const entry of await opendir(folder)) if (entry.isFile() && isCid(entry.name)) yield entry.name
      } catch (error) {
        if (errnoOf(error) !== 'ENOENT') throw unreadableFolder(error)
      }
    },
  }
}

const unreadableFolder = (error: unknown): ApiError =>
  internal(`The asset folder cannot be read: ${errnoOf(error)}`, { cause: error })

const errnoOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'no reason given'
