/** Which files a test file loads. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const IMPORTED = /\b(?:from |import\()'(\.[^']+\.ts)'/g

/** The texts by file: of this one and of all that it imports, at any depth, as far as they are followed. */
export function textsWithImports(
  file: string,
  isFollowed: (file: string) => boolean,
  texts = new Map<string, string>(),
): ReadonlyMap<string, string> {
  if (texts.has(file) || !isFollowed(file) || !existsSync(file)) return texts
  const text = readFileSync(file, 'utf8')
  texts.set(file, text)
  for (const [, path = ''] of text.matchAll(IMPORTED)) {
    textsWithImports(resolve(dirname(file), path), isFollowed, texts)
  }
  return texts
}
