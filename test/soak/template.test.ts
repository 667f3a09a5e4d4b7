/** The template resource: it compiles at the places that docs/adding.md names, and that page lists all of its files. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AnyRoute } from '../../src/api/route.ts'
import { routePaths } from '../../tools/route-paths.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TEMPLATE = join(ROOT, 'examples/template')

interface Insertion {
  /** Lines that stand in the file once. */
  after: string[]
  insert: string[]
}

const WIRING: Record<string, Insertion[]> = JSON.parse(readFileSync(join(TEMPLATE, 'wiring.json'), 'utf8'))
const NEW_FILES = readdirSync(TEMPLATE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

const ADDING = readFileSync(join(ROOT, 'docs/adding.md'), 'utf8')

/** Files that the bullets of a section begin with. */
function filesUnder(heading: string): string[] {
  const section = ADDING.split(/^(?=##+ )/m).find((each) => each.startsWith(`## ${heading}\n`)) ?? ''
  return [...section.matchAll(/^- `([^`]+)`/gm)].flatMap(([, file]) => file ?? [])
}

/** The house with the template in it, in a folder that ends with the test. */
async function houseWithTemplate(): Promise<string> {
  const house = mkdtempSync(join(tmpdir(), 'svc-template-'))
  onTestFinished(() => rmSync(house, { recursive: true, force: true }))
  for (const part of [
    'bin',
    'src',
    'commands',
    'daemon',
    'test/support',
    'test/store',
    'package.json',
    'tsconfig.json',
  ]) {
    cpSync(join(ROOT, part), join(house, part), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(house, 'node_modules'))
  for (const file of NEW_FILES) cpSync(join(TEMPLATE, file), join(house, file))
  for (const [file, insertions] of Object.entries(WIRING)) {
    const text = insertions.reduce((before, each) => withInserted(file, before, each), read(join(house, file)))
    writeFileSync(join(house, file), text)
  }
  const { api } = (await import(join(house, 'src/api/index.ts'))) as Record<
    'api',
    Record<string, Record<string, AnyRoute>>
  >
  writeFileSync(join(house, 'src/api/paths.ts'), routePaths(api))
  return house
}

const read = (file: string) => readFileSync(file, 'utf8')

function withInserted(file: string, text: string, { after, insert }: Insertion): string {
  const [before, ...rest] = text.split(`${after.join('\n')}\n`)
  expect(rest, `${file} has this once: ${after.join('\n')}`).toHaveLength(1)
  return `${before}${after.join('\n')}\n${insert.join('\n')}\n${rest[0]}`
}

describe('the template resource', () => {
  it('consists of the files that docs/adding.md lists for a resource, new ones and lines in others', () => {
    expect(filesUnder('Adding a resource').sort()).toEqual([...NEW_FILES, ...Object.keys(WIRING)].sort())
    expect(NEW_FILES.filter((file) => existsSync(join(ROOT, file)))).toEqual([])
  })

  it('has its first verb in the files that docs/adding.md lists for a verb', () => {
    const mentions = (text: string) => /createNote|notes\.create|create: |'POST', '\/v2\/notes'/.test(text)
    const wired = Object.entries(WIRING).map(([file, lines]) => [file, JSON.stringify(lines)] as const)
    const files = [...NEW_FILES.map((file) => [file, read(join(TEMPLATE, file))] as const), ...wired]
    const withVerb = files.filter(([, text]) => mentions(text)).map(([file]) => file)
    expect(filesUnder('Adding a verb').sort()).toEqual(withVerb.sort())
  })

  it('compiles in its places', async () => {
    const house = await houseWithTemplate()
    const tsconfig = JSON.parse(read(join(house, 'tsconfig.json')))
    const include = [...NEW_FILES, 'src/operations/registry.ts', 'commands/cli/nouns.ts']
    const compilerOptions = { ...tsconfig.compilerOptions, incremental: false, tsBuildInfoFile: undefined }
    writeFileSync(join(house, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
    const { all, exitCode } = await execa('node_modules/.bin/tsc', ['--project', '.'], {
      cwd: house,
      all: true,
      reject: false,
    })
    expect([all, exitCode]).toEqual(['', 0])
  })
})
