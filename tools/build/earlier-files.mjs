/**
 * Keeps the files of earlier builds in dist/ for a month: processes that run from them load parts when they need them.
 */
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { INPUTS_FILE } from './inputs.mjs'

/** Lists the files of earlier builds, so that npm packs only those of the last one. */
const LIST = 'dist/.npmignore'
const KEPT_MS = 30 * 24 * 3_600_000

/**
 * Removes files that were replaced a month ago; a file counts as replaced from the first build that has not `written`
 * it.
 */
export async function keepEarlierFiles(written, put) {
  const listed = (await readFile(LIST, 'utf8').catch(() => '')).split('\n')
  const now = Date.now()
  const kept = []
  for (const entry of await readdir('dist', { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || path === INPUTS_FILE || path === LIST || written.has(path)) continue
    const line = `/${relative('dist', path)}`
    if (!listed.includes(line)) await utimes(path, now / 1000, now / 1000)
    else if (now - (await stat(path)).mtimeMs > KEPT_MS) {
      await rm(path)
      continue
    }
    kept.push(line)
  }
  await put(LIST, `${kept.sort().join('\n')}\n`)
}
