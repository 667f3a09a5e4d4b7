/** A command line that is read at once is read as commander reads it, and help that the build wrote is commander's. */
import { Command, Help } from 'commander'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { helpText } from '../../bin/help.ts'
import { GLOBAL_OPTIONS, NOUNS } from '../../bin/nouns.ts'
import { readCommand } from '../../bin/parse.ts'
import { helpModel, parseCommand } from '../../bin/program.ts'
import { quickParse } from '../../bin/quick-parse.ts'
import { writtenHelp } from '../../bin/written-help.ts'
import type { Noun, Verb } from '../../commands/command.ts'

/** Columns of what is no terminal. */
const toFile = () => undefined
const nouns = await Promise.all(NOUNS.map(async ({ name, load }) => ({ name, noun: await load() })))
const verbsOf = (noun: Noun): [string, Verb][] => ('verbs' in noun ? Object.entries(noun.verbs) : [['', noun.verb]])

/** Absent values are undefined in one of them and missing in the other. */
const plain = ({ verb: _, ...parsed }: { verb: Verb; command: string; raw: object; globals: object }) =>
  JSON.parse(JSON.stringify(parsed))

const WORDS = [
  'x',
  '',
  '-',
  '--',
  '-x',
  '--name',
  '--json',
  '-o',
  'json',
  '-1',
  'a,b',
  'list',
  'help',
  '-h',
  '--limit=3',
]
const globalNames = GLOBAL_OPTIONS.flatMap(({ flags }) => flags.match(/--?[a-z][a-z-]*/g) ?? [])

/** Command lines of one verb in any order: some well formed, many not. */
const lines = fc.constantFrom(...nouns).chain(({ name, noun }) =>
  fc.constantFrom(...verbsOf(noun)).chain(([verbName, verb]) => {
    const own = Object.entries(verb.flags).flatMap(([key, { short }]) => [
      `--${key.replaceAll('_', '-')}`,
      ...(short === undefined ? [] : [`-${short}`]),
    ])
    const flag = fc.constantFrom(...own, ...globalNames)
    const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 6 }))
    const part = fc.oneof(
      flag.map((flag) => [flag]),
      fc.tuple(flag, word).map(([flag, word]) => [flag, word]),
      fc.tuple(flag, word).map(([flag, word]) => [`${flag}=${word}`]),
      word.map((word) => [word]),
    )
    const parts = fc.array(part, { maxLength: 5 }).map((parts) => parts.flat())
    const head = [name, ...(verbName === '' ? [] : verbName.split(' '))]
    return fc.tuple(fc.array(part, { maxLength: 1 }), parts).map(([before, after]) => ({
      name,
      noun,
      argv: [...before.flat(), ...head, ...after],
    }))
  }),
)

describe('a command line', () => {
  it('is read as commander reads it, or left to commander', async () => {
    let read = 0
    await fc.assert(
      fc.asyncProperty(lines, async ({ name, noun, argv }) => {
        const quick = quickParse(argv, name, noun)
        if (quick === undefined || argv[0] === 'help') return
        read++
        const parsed = await parseCommand(argv)
        if ('text' in parsed) throw new Error(`commander shows help: ${parsed.text.slice(0, 80)}`)
        expect(plain(quick)).toEqual(plain(parsed))
        expect(quick.verb).toBe(parsed.verb)
      }),
      { numRuns: 3_000 },
    )
    expect(read).toBeGreaterThan(200)
  })

  it.each(nouns)('of every verb of $name is read at once with its required arguments', async ({ name, noun }) => {
    for (const [verbName, { args, flags }] of verbsOf(noun)) {
      // Its `--url` is not that of every command, which commander sorts out.
      if ('url' in flags) continue
      const argv = [
        '--json',
        name,
        ...(verbName === '' ? [] : verbName.split(' ')),
        ...Object.keys(args).map(() => 'x'),
      ]
      const quick = quickParse(argv, name, noun)
      expect(quick, argv.join(' ')).toBeDefined()
      expect(await readCommand(argv)).toEqual(quick)
    }
  })
})

describe('help', () => {
  it.each(nouns)('of $name as the build wrote it is what the parser shows', async ({ name, noun }) => {
    const groups = 'verbs' in noun ? Object.keys(noun.groups ?? {}).map((group) => [group]) : []
    for (const [verb] of 'verbs' in noun ? [[''], ...groups, ...verbsOf(noun)] : [['']]) {
      const words = [name, ...(verb ? verb.split(' ') : [])]
      const { text } = (await parseCommand([...words, '--help'])) as { text: string }
      expect(writtenHelp([...words, '--help'], toFile), words.join(' ')).toBe(text)
      expect(writtenHelp([...words, '-h'], toFile)).toBe(text)
      expect(writtenHelp(['help', ...words], toFile)).toBe(text)
    }
  })

  it.each([
    [['keys', 'bogus', '--help']],
    [['keys', '', '--help']],
    [['bogus', '--help']],
    [['../package', '--help']],
    [['keys', 'constructor', '--help']],
    [['keys', 'list', '--json', '--help']],
    [['help']],
    [['keys', 'list']],
  ])('of %j is left to the parser', (argv) => {
    expect(writtenHelp(argv, toFile)).toBeUndefined()
  })

  it('is laid out as commander does it, at every width', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '—', ',', '(', '.'), minLength: 1, maxLength: 14 })
    const text = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(' '))
    const flags = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 8 }), {
      maxLength: 5,
    })
    const width = fc.integer({ min: 0, max: 160 })
    const options = fc.tuple(flags, fc.array(text, { minLength: 5, maxLength: 5 }))
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), options, width, (about, [names, texts], columns) => {
        const command = new Command('x').description(about.join('\n'))
        names.forEach((name, at) => void command.option(`--${name} <value>`, texts[at]))
        const helper = Object.assign(new Help(), { helpWidth: columns })
        expect(helpText(helpModel(command, helper), columns)).toBe(helper.formatHelp(command, helper))
      }),
    )
  })
})
