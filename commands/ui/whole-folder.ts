/** Writes a folder completely or not at all: into a new folder beside it, which then replaces it. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { makeFolders } from '../../src/platform/files.ts'
import { reason } from './files.ts'
import { failure, usage } from './problem.ts'

interface FolderKind {
  /** Whether a folder of this kind may be replaced. */
  replace: boolean
  /** The name of the folder's content in errors, as in `contains no export`. */
  kind: string
  /** The JSON file that every folder of this kind has, and its `format`; no other folder is ever replaced. */
  file: string
  format: string
}

/** Writes a file of the folder, and creates the folders of its path. */
export type PutFile = (path: string, content: string | Uint8Array) => Promise<void>

/** Throws a usage problem if the folder must not be written; `write` then fills a new folder and puts it in place. */
export async function wholeFolder(out: string, { replace, kind, file, format }: FolderKind) {
  const isThere = await hasContent(out)
  if (isThere && !(await isOfFormat(join(out, file), format))) {
    throw usage(`${out} is there already, and contains no ${kind}`, { param: '--out', next: 'give another folder' })
  }
  if (isThere && !replace) {
    throw usage(`${out} is there already`, { param: '--out', next: 'give another folder, or --replace' })
  }
  const write = async (fill: (put: PutFile) => Promise<void>): Promise<void> => {
    const draft = `${out.replace(/\/+$/, '')}.${process.pid}.part`
    const old = `${draft}.old`
    const made = new Set<string>()
    try {
      makeFolders(draft, 0o777)
      await fill(async (path, content) => {
        const target = join(draft, path)
        // Names that others chose must not lead out of the folder.
        if (!target.startsWith(join(draft, sep))) throw new Error(`${path} would not be in it`)
        const folder = dirname(target)
        if (!made.has(folder)) await mkdir(folder, { recursive: true })
        made.add(folder)
        await writeFile(target, content)
      })
      if (isThere) await rename(out, old)
      await rename(draft, out).catch(async (error) => {
        if (isThere) await rename(old, out)
        throw error
      })
      await rm(old, { recursive: true, force: true })
    } catch (error) {
      throw failure(`${out} cannot be written: ${reason(error)}`)
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  }
  return { write }
}

async function isOfFormat(file: string, format: string): Promise<boolean> {
  try {
    return JSON.parse(await readFile(file, 'utf8')).format === format
  } catch {
    return false
  }
}

async function hasContent(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw usage(`${folder} cannot be written: ${reason(error)}`, { param: '--out' })
  }
}
