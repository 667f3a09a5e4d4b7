/** The files of the claim page itself: built from `src/claim-page/`, the same for every site. */
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { TextsByKey } from './site-settings.ts'

/** Content types by the ending of a file. */
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
}

export const pageContentType = (path: string): string =>
  TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'

/** Reads every file of a page, by its path from `index.html`. */
export async function readPageFiles(
  page: 'claim-page' | 'passport-page' | 'raise-page' = 'claim-page',
): Promise<Map<string, Buffer<ArrayBuffer>>> {
  const folder = builtFolder(page)
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = new Map<string, Buffer<ArrayBuffer>>()
  for (const entry of names) {
    if (!entry.isFile()) continue
    const path = `${entry.parentPath}/${entry.name}`
    files.set(path.slice(folder.length).replace(/^\//, ''), (await readFile(path)) as Buffer<ArrayBuffer>)
  }
  return files
}

/** The page's texts in a language, with all keys; undefined if the files have none. */
export function textsIn(files: ReadonlyMap<string, Uint8Array>, language = 'en'): TextsByKey | undefined {
  const bytes = files.get(`texts/${language}.json`)
  return bytes === undefined ? undefined : JSON.parse(Buffer.from(bytes).toString('utf8'))
}

/** The folder is next to the built program, or in dist/ when the program runs from source. */
function builtFolder(page: string): string {
  const here = import.meta.url
  return fileURLToPath(new URL(here.endsWith('.ts') ? `../../../dist/${page}` : `./${page}`, here))
}
