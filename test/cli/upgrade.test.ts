/** `svc upgrade`: says what docs/install.md says, and names no package that somebody else could publish. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { VERSION } from '../../src/platform/version.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const root = join(import.meta.dirname, '../..')
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

it('svc upgrade says the commands of docs/install.md, with --check too', async () => {
  const [, commands = ''] = /```sh\n([\s\S]+?)\nsvc --version\n```/.exec(textOf('docs/install.md')) ?? []
  const lines = commands.split('\n').map((line) => `  ${line}`)
  for (const args of [['upgrade'], ['upgrade', '--check']]) {
    const { exitCode, stdout } = await cli.svc(args)
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(lines.join('\n'))])
  }
  const { stdout } = await cli.svc(['upgrade', '--check', '--json'])
  expect(JSON.parse(stdout)).toEqual({ installed: VERSION, latest: null, newer: null })
})

it('No command, document or example installs svc or its client from a registry', () => {
  const files = ['README.md', 'package.json', ...['commands', 'src', 'daemon', 'docs', 'examples'].flatMap(below)]
  const named =
    /(?:npm (?:install|i|exec|view)|npx|pnpm (?:add|dlx)|yarn (?:add|dlx)|bunx?)\b[^\n`]*[ "']@svc-launch\/(?:cli|client)\b/
  const offers = /(?<!Do not run `)npx svc\b/
  const found = files.filter(
    (file) => named.test(textOf(file)) || offers.test(textOf(file).replace(/Do not run `npx svc`/g, '')),
  )
  expect(found).toEqual([])
})

function below(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|md|json|ya?ml|sh|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((file) => !file.includes('node_modules'))
}
