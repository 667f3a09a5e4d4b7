/** The command line of `npm run bench`, its targets, and the documents that name its suites. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Measurement } from '../../bench/measurement.ts'
import { measurementLine, missedTargets } from '../../bench/report.ts'
import { BENCH_HELP, readBenchArguments, SUITES } from '../../bench/suites.ts'
import { TARGETS } from '../../bench/targets.ts'

const ROOT = join(import.meta.dirname, '../..')
const names = Object.keys(SUITES)

describe('the command line of the bench', () => {
  it('runs all suites unless some are named, in the order of its help', () => {
    expect(readBenchArguments([])).toEqual({ suites: names, byProcessor: false, json: undefined })
    expect(readBenchArguments(['writes', 'requests', '--processor', '--json', 'figures.json'])).toEqual({
      suites: ['requests', 'writes'],
      byProcessor: true,
      json: 'figures.json',
    })
  })

  it('prints its suites with --help, one per line', () => {
    expect(readBenchArguments(['--help'])).toBe('help')
    for (const name of names) expect(BENCH_HELP).toMatch(new RegExp(`^  ${name} +\\S.*$`, 'm'))
  })

  it('names an unknown flag and an unknown suite', () => {
    expect(readBenchArguments(['--rounds', '3'])).toEqual({ fault: "Unknown option '--rounds'" })
    expect(readBenchArguments(['writes', 'builds'])).toEqual({ fault: 'There is no suite builds' })
    expect(readBenchArguments(['--json'])).toEqual({ fault: expect.stringContaining('--json') })
  })
})

describe('targets of the bench', () => {
  const [target] = TARGETS.filter(({ suite }) => suite === 'webhooks')
  const measured: Measurement[] = [
    { name: target?.name ?? '', value: 1, unit: '/s', ratio: 0.2, processor: 0.4, floor: target?.floor ?? '' },
  ]

  it('belong to a suite that exists', () => {
    for (const { suite } of TARGETS) expect(names).toContain(suite)
  })

  it('are missed by a figure beyond them, and by a missing figure', () => {
    expect(missedTargets('webhooks', measured, false)).toEqual([expect.stringContaining('0.20')])
    expect(missedTargets('webhooks', [], false)).toEqual([expect.stringContaining('not measured')])
    expect(measured.map((each) => measurementLine('webhooks', each, false))).toEqual([
      expect.stringContaining('[≥ 0.25: MISSED]'),
    ])
  })

  it('are compared with processor time if asked to', () => {
    expect(missedTargets('webhooks', measured, true)).toEqual([])
  })
})

describe('documents that name suites of the bench', () => {
  it.each(['docs/performance.md', 'docs/scaling.md', 'docs/operating.md', 'CHANGELOG.md'])(
    'name only existing suites: %s',
    (file) => {
      const text = readFileSync(join(ROOT, file), 'utf8')
      const named = Array.from(text.matchAll(/npm run bench -- ([a-z][a-z -]*)/g), ([, list = '']) =>
        list.trim().split(' '),
      )
      for (const name of named.flat().filter((word) => !word.startsWith('-'))) expect(names).toContain(name)
    },
  )

  it('docs/performance.md describes each suite', () => {
    const text = readFileSync(join(ROOT, 'docs/performance.md'), 'utf8')
    expect(Array.from(text.matchAll(/^\| `([a-z-]+)` \|/gm), ([, name]) => name)).toEqual(names)
  })
})
