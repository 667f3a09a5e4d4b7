/** README.md and docs/: every link and anchor leads somewhere, every page has a place, pictures are small. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorOf, anchorsOf, withoutCode } from '../tools/anchors.ts'
import { RECORDING, recordedCommands } from '../tools/record-tutorial.ts'
import { REASONS } from '../tools/reference-pages.ts'

const ROOT = resolve(import.meta.dirname, '..')
const PAGES = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
const ALL = ['docs', 'examples'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
)
const AT_TOP = readdirSync(ROOT).filter((name) => name.endsWith('.md'))
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

function linksOf(file: string): { path: string; anchor: string | undefined }[] {
  const text = withoutCode(read(file)).replace(/`[^`\n]*`/g, '')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/(?:src|srcset|href)="([^"]+)"/g)]
  return links
    .map(([, link]) => link!)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path, anchor] = link.split('#') as [string, string?]
      return { path: path === '' ? file : relative(ROOT, resolve(ROOT, dirname(file), path)), anchor }
    })
}

describe('the documentation', () => {
  it.each([...AT_TOP, ...ALL])('follows each link of %s', (file) => {
    const broken = linksOf(file).filter(({ path, anchor }) => {
      if (path.startsWith('..') || !existsSync(join(ROOT, path))) return true
      return anchor !== undefined && path.endsWith('.md') && !anchorsOf(read(path)).has(anchor)
    })
    expect(broken).toEqual([])
  })

  it('has a place in docs/index.md for each page', () => {
    const listed = linksOf('docs/index.md').map(({ path }) => path)
    expect(PAGES.filter((page) => page !== 'docs/index.md' && !listed.includes(page))).toEqual([])
  })

  it('walks through functions of docs/architecture.md that are in their files', () => {
    const steps = [...read('docs/architecture.md').matchAll(/`([\w.]+)` in `([\w/.-]+)`/g)]
    const textOf = (place: string) => read(existsSync(join(ROOT, place, 'index.ts')) ? `${place}/index.ts` : place)
    const isThere = (name: string, place: string) =>
      existsSync(join(ROOT, place)) && new RegExp(`\\b${name.split('.').at(-1)}\\b`).test(textOf(place))
    expect(steps.length).toBeGreaterThan(15)
    expect(steps.filter(([, name, place]) => !isThere(name!, place!)).map(([step]) => step)).toEqual([])
  })

  it('keeps CONTRIBUTING.md to 1,200 words', () => {
    expect(read('CONTRIBUTING.md').split(/\s+/).length).toBeLessThanOrEqual(1_200)
  })

  it.each(REASONS.map(({ at, values }) => [at, values] as const))(
    'explains each reason of an error: %s',
    (at, values) => {
      const [page, anchor] = at.split('#') as [string, string]
      const section = read(`docs/${page}`)
        .split(/^(?=## )/m)
        .find((part) => anchorOf(part.slice(0, part.indexOf('\n'))).replace(/^-/, '') === anchor)
      expect(values.filter((value) => !section?.includes(`\`${value}\``))).toEqual([])
    },
  )

  it('has a recording of the commands of its tutorial: npx tsx tools/record-tutorial.ts makes another', () => {
    const [, ...events] = readFileSync(RECORDING, 'utf8').trim().split('\n')
    const typed = events.map((line) => JSON.parse(line)).filter(([, kind]) => kind === 'i')
    expect(typed.map(([, , command]) => command)).toEqual(recordedCommands())
  })

  it('keeps the README on two screens, and its pictures small', () => {
    const lines = read('README.md').split('\n').length
    expect(lines).toBeGreaterThanOrEqual(60)
    expect(lines).toBeLessThanOrEqual(100)
    const sizes = readdirSync(join(ROOT, 'docs/pictures')).map(
      (name) => statSync(join(ROOT, 'docs/pictures', name)).size,
    )
    expect(Math.max(...sizes)).toBeLessThan(100_000)
    expect(statSync(join(ROOT, 'docs/pictures/first-launch.svg')).size).toBeLessThan(60_000)
  })
})
