/** Builds dist/ where its sources have changed, for files that use it: what ships is what is tested. */
import { execFileSync } from 'node:child_process'
import { parseCLI, type TestProject } from 'vitest/node'
import { textsWithImports } from './imports.ts'

/** A path into dist/, as workers, pages and processes have it. */
const NAMES_DIST = /\.\.\/dist\/|'dist'/

export default async function setup({ vitest }: TestProject): Promise<void> {
  // `npm run verify` starts no process of dist/.
  if (process.env.SVC_TEST_DIST === 'as-is') return
  const { filter } = parseCLI(['vitest', ...process.argv.slice(2)])
  const files = await vitest.globTestSpecifications(filter)
  if (!usesDist(files.map(({ moduleId }) => moduleId))) return
  execFileSync(process.execPath, ['tools/build.mjs', '--if-changed'], { stdio: 'inherit' })
}

/** Whether one of the files, or what it loads, starts or reads something of dist/. */
export function usesDist(files: readonly string[]): boolean {
  const texts = new Map<string, string>()
  for (const file of files) textsWithImports(file, () => true, texts)
  return [...texts.values()].some((text) => NAMES_DIST.test(text))
}
