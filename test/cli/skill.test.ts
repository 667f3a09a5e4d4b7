/** `svc skill`: every command of the file works, and what it says of signing is so. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { commandTree } from '../../commands/cli/command-tree.ts'
import { readCommand } from '../../commands/cli/program.ts'
import { skillText } from '../../commands/skill.ts'
import { DEFAULT_POLICY } from '../../src/policy/policy.ts'
import { yamlFaults } from '../support/yaml.ts'
import { commandLine } from './command-line.ts'
import { commandOf, exampleWords } from './example-words.ts'

const { svc, json, refused, home, file } = commandLine()

const tree = await commandTree()
const skill = skillText(tree)
/** The part below a heading of the second or third level. */
const below = (heading: string) => skill.split(`\n${heading}\n`)[1]?.split(/\n##/)[0] ?? ''
const verbs = tree.commands.flatMap((noun) => noun.verbs.map((verb) => ({ noun, verb, command: verb.command })))

describe('The file of svc skill', () => {
  it('has front matter with a name and a description that readers of skills accept', () => {
    const [, head] = /^---\n([\s\S]*?)\n---\n/.exec(skill) ?? []
    const { name, description, ...others } = parse(head!) as Record<string, string>
    expect(yamlFaults(head!)).toEqual([])
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    expect(description).toContain(`: ${tree.commands.map((noun) => noun.name).join(', ')}.`)
    expect(description!.length).toBeLessThanOrEqual(1024)
    expect(others).toEqual({})
  })

  it('has at most 40,000 bytes', () => {
    expect(Buffer.byteLength(skill)).toBeLessThanOrEqual(40_000)
  })

  it('has each noun in its table, and each exit code with a meaning', () => {
    const cells = (heading: string) => [...below(heading).matchAll(/^\| (\S+) \| ([^|]+) \|/gm)].slice(1)
    const nouns = cells('## Nouns').map(([, name, about]) => ({ name, about }))
    expect(nouns).toEqual(tree.commands.map(({ name, about }) => ({ name, about })))
    const codes = [...below('## Answers and errors').matchAll(/^\| (\d+) \| ([^|]+) \|/gm)]
    expect(codes.map(([, code, meaning]) => ({ code: Number(code), meaning }))).toEqual(tree.exit_codes)
  })

  it.each(verbs)('has $command once, with what it requires and with flags that it has', ({ noun, verb }) => {
    const lines = below(`### svc ${noun.name}`).split('\n')
    const own = lines.filter((line) => line.endsWith(`: ${verb.about}`) || line.includes(`: ${verb.about} (\`--`))
    const line = own.find((each) => new RegExp(`^- \`${verb.name || verb.command}(?: [<[-]|\`)`).test(each)) ?? ''
    const [, usage = '', flags = ''] = /^- `([^`]+)`: .*?(?: \(`(--[^`]+)`\))?$/.exec(line) ?? []
    const required = verb.options.filter((option) => option.required && option.unless === null)
    for (const { name } of verb.arguments) expect(usage).toMatch(new RegExp(`[<[]${name}(\\.\\.\\.)?[>\\]]`))
    for (const { flag } of required) expect(usage).toContain(` ${flag} <`)
    const named = flags.split(' ').filter((flag) => flag !== '')
    expect(verb.options.map(({ flag }) => flag)).toEqual(expect.arrayContaining(named))
    const hasDryRun = verb.options.some(({ flag }) => flag === '--dry-run')
    expect(named[0] === '--dry-run').toBe(hasDryRun)
  })

  it('has only verbs of svc', () => {
    const lines = skill.slice(skill.indexOf('\n## Commands\n')).match(/^- `/gm)
    expect(lines).toHaveLength(verbs.length)
  })

  it('shows commands that parse, with everything that they require', async () => {
    const shown = [...skill.matchAll(/```sh\n([\s\S]*?)\n```/g)].flatMap(([, block]) => block!.split('\n'))
    expect(shown.length).toBeGreaterThan(tree.commands.length)
    for (const line of shown) expect(await commandOf(line)).toBeTypeOf('string')
  })

  it('names commands in its sentences that parse', async () => {
    const named = [...skill.matchAll(/`(svc [^`]+)`/g)].map(([, words]) => words!)
    // Usages of verbs are held against the tree above.
    const typed = named.filter((words) => !/ NOUN | \[|</.test(words) && !words.startsWith('svc help '))
    expect(new Set(typed).size).toBeGreaterThan(6)
    for (const words of typed) expect(await readCommand(exampleWords(words).slice(1)), words).toHaveProperty('command')
    for (const topic of ['options', 'signing']) {
      expect(named).toContain(`svc help ${topic}`)
      expect(await readCommand(exampleWords(`help ${topic}`))).toHaveProperty('text')
    }
  })

  it('shows a preview before the same command without --dry-run', () => {
    const [, block] = /```sh\n([\s\S]*?)\n```/.exec(below('## The order of steps')) ?? []
    const [read, preview, send] = block!.split('\n')
    expect(read).toBe('svc status --json')
    expect(preview).toBe(`${send} --dry-run`)
  })

  it('says of the platform wallet what holds at first: nothing leaves it, and nothing waits', () => {
    const { approvals, lamports_per_transaction, lamports_per_day, tokens } = DEFAULT_POLICY
    expect([approvals, lamports_per_transaction, lamports_per_day, tokens]).toEqual([null, 0n, 0n, []])
    expect(below('## Who signs')).toContain('At first it lets nothing leave the wallet, and nothing waits.')
  })
})

describe('svc skill', () => {
  it('prints what it writes into a file that everybody can read', async () => {
    const out = join(home, 'SKILL.md')
    const printed = await svc(['skill'])
    expect(printed).toMatchObject({ exitCode: 0, stdout: skill })
    expect(await json(['skill', '--out', out])).toEqual({ file: out, bytes: Buffer.byteLength(skill) })
    expect(readFileSync(out, 'utf8')).toBe(skill)
    expect(statSync(out).mode & 0o777).toBe(0o644)
    expect(await json(['skill'])).toEqual({ skill })
  })

  it('leaves a file that exists as it is, unless it may replace it', async () => {
    const out = file('edited.md', 'mine')
    const told = await refused(['skill', '--out', out], `${out} already exists`, 2)
    expect(told).toContain('add --replace')
    expect(readFileSync(out, 'utf8')).toBe('mine')
    await json(['skill', '--out', out, '--replace'])
    expect(readFileSync(out, 'utf8')).toBe(skill)
  })

  it('says which file it cannot write', async () => {
    const out = join(home, 'absent/SKILL.md')
    await refused(['skill', '--out', out], `${out} cannot be written: there is no such file`, 2)
  })
})
