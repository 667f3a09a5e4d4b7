#!/usr/bin/env node
/**
 * Runs the quick checks of `npm run verify` in parallel, prints the output of each when it ends, and fails if one
 * fails.
 */
import { spawn } from 'node:child_process'
import { delimiter, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const PATH = [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter)

const CHECKS = [
  'biome ci .',
  'tsc --noEmit',
  'tsc --noEmit -p src/claim-page/browser',
  'tsc --noEmit -p src/console-page',
  'tsc --noEmit -p src/passport-page',
  'tsc --noEmit -p src/reference-page',
  'tsc --noEmit -p docs/.vitepress',
  'vitest run test/architecture.test.ts',
  'node tools/checks/package.mjs',
  'node tools/checks/publish.mjs',
  'node tools/checks/bundled-licenses.mjs',
  'tsx tools/docs.ts --check',
  'tsx tools/reference.ts --check',
  'tsx tools/api-lock.ts --check',
]

/** Resolves with whether the command succeeded. */
function check(line) {
  const began = Date.now()
  const [command, ...args] = line.split(' ')
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, PATH, SVC_TEST_DIST: 'as-is' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  return new Promise((settle) => {
    child.on('error', (error) => output.push(Buffer.from(`${error.message}\n`)))
    child.on('close', (code) => {
      const seconds = ((Date.now() - began) / 1000).toFixed(1)
      process.stdout.write(`${code === 0 ? 'ok' : 'FAILED'}  ${line}  (${seconds} s)\n`)
      process.stdout.write(Buffer.concat(output))
      settle(code === 0)
    })
  })
}

const results = await Promise.all(CHECKS.map(check))
const failed = CHECKS.filter((_, at) => !results[at])
// At the end, because the output of other checks follows that of the failed one.
if (failed.length > 0) process.stdout.write(`failed: ${failed.join(', ')}\n`)
process.exitCode = failed.length > 0 ? 1 : 0
